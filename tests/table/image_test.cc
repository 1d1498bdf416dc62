// A table is all in its memory: another one finds it there, in this process or another, and memory
// that holds something else is refused.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/hash/crc32c_hash.h"
#include "roost/table/flow_table.h"
#include "roost/table/save_table.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

struct TimedPolicies : DefaultPolicies {
  using Expiry = SlotTimers;
};
struct CrcPolicies : DefaultPolicies {
  using Hash = Crc32cHash;
};
using Timed = FlowTable<Key16, uint64_t, TimedPolicies>;
using Inline = FlowTable<ByteKey<13>, Value<4>>;

constexpr uint64_t kEntries = 1'000'000;

// Memory that several processes have, and that may be mapped twice.
class SharedMemory {
 public:
  explicit SharedMemory(uint64_t bytes) : bytes_(bytes), file_(memfd_create("image_test", 0)) {
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(bytes)), 0);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    for (const auto memory : mapped_) munmap(memory.data(), memory.size());
    close(file_);
  }

  // Another address each time.
  std::span<std::byte> map() {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return mapped_.emplace_back(static_cast<std::byte*>(memory), bytes_);
  }

 private:
  uint64_t bytes_;
  int file_;
  std::vector<std::span<std::byte>> mapped_;
};

uint64_t bytes_for(uint64_t entries) {
  return Timed::bytes_to_lend({.entries_max = entries}).value();
}

// Whether a table holds exactly the keys from `first` to `last`, as filled by fill().
template <class Table>
std::string difference(Table& table, uint64_t first, uint64_t last) {
  if (table.size() != last - first) return "size " + std::to_string(table.size());
  for (uint64_t i = 0; i < last + 1000; ++i) {
    const uint64_t* found = table.find(Key16::of(i));
    if ((found != nullptr) != (i >= first && i < last) || (found != nullptr && *found != i))
      return "key " + std::to_string(i);
  }
  if (const auto violation = table.audit()) return std::string(violation->what);
  return "";
}

template <class Table>
void fill(Table& table, uint64_t first, uint64_t last, TickCount timeout = kTimeoutTicksMax) {
  for (uint64_t i = first; i < last; ++i)
    ASSERT_EQ(table.insert(Key16::of(i), i, timeout), InsertOutcome::kInserted);
}

TEST(Image, another_process_goes_on_with_a_table_where_this_one_stopped) {
  SharedMemory memory(bytes_for(kEntries));
  Timed table = Timed::create({.entries_max = kEntries, .memory = memory.map()}).value();
  table.advance(Tick{500});
  fill(table, 0, kEntries / 2);
  const TableStats before = table.stats();

  const pid_t child = fork();
  if (child == 0) {
    Result<Timed> adopted = Timed::adopt({.memory = memory.map()});
    bool is_right = adopted.ok() && adopted.value().now() == Tick{500} &&
                    adopted.value().entries_max() == kEntries &&
                    adopted.value().stats().created == before.created &&
                    difference(adopted.value(), 0, kEntries / 2).empty();
    if (is_right) {
      for (uint64_t i = 0; i < 1000; ++i)
        is_right = is_right && adopted.value().erase(Key16::of(i));
      for (uint64_t i = kEntries / 2; i < kEntries; ++i) {
        is_right = is_right && adopted.value().insert(Key16::of(i), i) == InsertOutcome::kInserted;
      }
      adopted.value().advance(Tick{600});
    }
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);

  // What the other process did is here, and time and sums with it.
  Timed again = Timed::adopt({.memory = memory.map()}).value();
  EXPECT_EQ(difference(again, 1000, kEntries), "");
  EXPECT_EQ(again.now(), Tick{600});
  EXPECT_EQ(again.stats().created, kEntries);
  EXPECT_EQ(again.stats().erased, 1000U);
}

TEST(Image, timers_and_the_sweep_go_on_where_they_were) {
  SharedMemory memory(bytes_for(10'000));
  std::optional<Timed> table =
      Timed::create({.entries_max = 10'000, .memory = memory.map()}).value();
  fill(*table, 0, 5000, 10);
  fill(*table, 5000, 10'000, 900);
  table->advance(Tick{11});
  table->maintain(table->bucket_count() / 2);
  const Tick deadline = table->scan_deadline();
  const uint64_t left = table->size();
  table.reset();

  table = Timed::adopt({.memory = memory.map()}).value();
  EXPECT_EQ(table->size(), left);
  EXPECT_EQ(table->scan_deadline(), deadline);
  table->maintain(table->bucket_count() - table->bucket_count() / 2);
  EXPECT_EQ(difference(*table, 5000, 10'000), "");
  EXPECT_GT(table->scan_deadline(), deadline);
}

// Saves a table, and reads the file into memory at another address.
template <class Table>
std::string saved_and_read(const Table& table, std::span<std::byte> memory) {
  std::string path = (std::filesystem::temp_directory_path() / "roost-table-XXXXXX").string();
  close(mkstemp(path.data()));
  const std::optional<Error> unwritten = save_table(table, path);
  const Result<std::string> read = read_whole(path);
  std::filesystem::remove(path);
  if (unwritten) return unwritten->message;
  if (read.value().size() != image_of(table).size()) return "another size";
  std::memcpy(memory.data(), read.value().data(), read.value().size());
  return "saved";
}

TEST(Image, a_saved_table_is_found_in_memory_that_its_file_was_read_into) {
  SharedMemory memory(bytes_for(kEntries));
  Timed table = Timed::create({.entries_max = kEntries}).value();
  fill(table, 0, kEntries, 900);
  ASSERT_EQ(saved_and_read(table, memory.map()), "saved");
  Timed found = Timed::adopt({.memory = memory.map()}).value();
  EXPECT_EQ(found.audit(), std::nullopt);
  EXPECT_EQ(difference(found, 0, kEntries), "");
  EXPECT_EQ(save_table(table, "/none/table")->message,
            "/none/table cannot be written: No such file or directory");
}

// What adopting this memory as another table, or after a change, is answered with.
class Foreign : public testing::Test {
 protected:
  void SetUp() override {
    Timed table = Timed::create({.entries_max = 1000, .memory = memory_.map()}).value();
    fill(table, 0, 100);
  }
  template <class Table = Timed>
  std::string refusal(TableConfig config) {
    const Result<Table> adopted = Table::adopt(config);
    return adopted.ok() ? "adopted" : adopted.error().message;
  }
  std::span<std::byte> bytes() { return memory_.map(); }

  SharedMemory memory_{bytes_for(1000)};
};

TEST_F(Foreign, tables_of_another_kind_are_refused_with_both_named) {
  EXPECT_EQ(refusal<>({.memory = bytes()}), "adopted");
  using Untimed = FlowTable<Key16, uint64_t>;
  EXPECT_EQ(
      refusal<Untimed>({.memory = bytes()}),
      "the memory holds a table (split, filtered, keyed) of 8 slots a bucket, keys of 128 bits "
      "and values of 8 bytes, with timers; this is a table (split, filtered, keyed) of 8 "
      "slots a bucket, keys of 128 bits and values of 8 bytes, without timers");
  using OtherValue = FlowTable<Key16, Value<16>, TimedPolicies>;
  using OtherKey = FlowTable<Key40, uint64_t, TimedPolicies>;
  using OtherHash = FlowTable<Key16, uint64_t, CrcPolicies>;
  for (const std::string& refused :
       {refusal<OtherValue>({.memory = bytes()}), refusal<OtherKey>({.memory = bytes()}),
        refusal<OtherHash>({.memory = bytes()}), refusal<Inline>({.memory = bytes()})}) {
    EXPECT_EQ(refused.rfind("the memory holds a table (split, filtered, keyed) of 8 slots", 0), 0U)
        << refused;
  }
}

TEST_F(Foreign, memory_that_is_cut_or_holds_something_else_is_refused) {
  EXPECT_EQ(refusal<>({.memory = bytes().first(bytes().size() - 1)}),
            "the memory has " + std::to_string(bytes().size() - 1) + " bytes of a table of " +
                std::to_string(bytes().size()) + "; give all of what was lent to it");
  EXPECT_EQ(refusal<>({.memory = bytes().first(100)}),
            "the memory has 100 bytes, too few for a table; give all of what was lent to it");
  EXPECT_EQ(refusal<>({.memory = bytes().subspan(64)}),
            "the memory does not begin with a table; give what was lent to one, from its first "
            "byte on");
  EXPECT_EQ(refusal<>({}),
            "the memory has 0 bytes, too few for a table; give all of what was lent "
            "to it");
  bytes()[8] = std::byte{77};  // the version
  EXPECT_EQ(refusal<>({.memory = bytes()}),
            "the memory holds a table of format 77, and this library reads format 1; create the "
            "table anew");
}

TEST_F(Foreign, damaged_numbers_of_buckets_are_refused) {
  auto& buckets = reinterpret_cast<ImageHeader*>(bytes().data())->identity.buckets;
  const uint64_t sound = buckets.hashed;
  for (const uint64_t damaged : {uint64_t{0}, sound + 1, uint64_t{1} << 60}) {
    buckets.hashed = damaged;
    EXPECT_EQ(refusal<>({.memory = bytes()}),
              "the memory begins like a table whose numbers of buckets are damaged; create the "
              "table anew");
  }
  buckets.hashed = sound + 2;
  EXPECT_NE(refusal<>({.memory = bytes()}), "adopted");
}

TEST_F(Foreign, what_the_table_has_already_cannot_be_configured) {
  const std::string refused =
      "a table that is adopted has its capacity, promise, seed and pages already; configure "
      "memory, "
      "kernel and hint only";
  EXPECT_EQ(refusal<>({.capacity = 1000, .memory = bytes()}), refused);
  EXPECT_EQ(refusal<>({.entries_max = 1000, .memory = bytes()}), refused);
  EXPECT_EQ(refusal<>({.hash_seed = 1, .memory = bytes()}), refused);
  EXPECT_EQ(refusal<>({.memory = bytes(), .isa = Isa::kScalar}), "adopted");
}

TEST(Image, memory_that_held_a_table_holds_a_new_empty_one_once_it_is_lent_again) {
  SharedMemory memory(bytes_for(1000));
  Timed old_table = Timed::create({.entries_max = 1000, .memory = memory.map()}).value();
  fill(old_table, 0, 1000);
  Timed new_table = Timed::create({.entries_max = 1000, .memory = memory.map()}).value();
  EXPECT_EQ(difference(new_table, 0, 0), "");
  EXPECT_EQ(new_table.stats().created, 0U);
}

}  // namespace
}  // namespace roost
