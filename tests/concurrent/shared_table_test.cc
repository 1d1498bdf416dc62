// A table that one thread changes without pause while others look keys up: every answer is right
// (T-05; ).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "roost/concurrent/shared_table.h"
#include "tests/base/step_count.h"
#include "tests/concurrent/lookup_oracle.h"
#include "tests/table/packed_keys.h"

namespace roost {
namespace {

TEST(LookupOracle, names_what_is_lost_stale_torn_and_resurrected) {
  LookupOracle oracle(20);
  const uint16_t first = oracle.begin_insert(3);
  oracle.end_insert(3, true);
  const auto before = oracle.before(3);
  EXPECT_EQ(oracle.check(3, before, true, first), "");
  EXPECT_EQ(oracle.check(3, before, false, 0), "lost");
  EXPECT_EQ(oracle.check(3, before, true, LookupOracle::value(4, 1)), "another key's value");
  EXPECT_EQ(oracle.check(3, before, true, LookupOracle::value(3, 2)),
            "a value that was never written");
  const uint16_t second = oracle.begin_insert(3);
  EXPECT_EQ(oracle.check(3, before, true, first), "") << "not yet replaced";
  EXPECT_EQ(oracle.check(3, before, true, second), "") << "already there";
  oracle.end_insert(3, true);
  const auto later = oracle.before(3);
  EXPECT_EQ(oracle.check(3, later, true, first), "a value that was gone or replaced before");
  oracle.begin_erase(3);
  EXPECT_EQ(oracle.check(3, later, false, 0), "") << "it goes meanwhile";
  EXPECT_EQ(oracle.check(3, later, true, second), "");
  oracle.end_erase(3);
  EXPECT_EQ(oracle.check(3, oracle.before(3), true, second),
            "a value that was gone or replaced before");
  EXPECT_EQ(oracle.check(3, oracle.before(3), false, 0), "");
}

// Both sides sleep at random between words, while the other goes on.
class PausingAccess : public OneWriterManyReaders {
 public:
  using OneWriterManyReaders::OneWriterManyReaders;

  static void store(uint64_t& word, uint64_t value) {
    pause(100);
    OneWriterManyReaders::store(word, value);
    pause(100);
  }
  [[nodiscard]] static uint64_t load(const uint64_t& word) {
    pause(500);
    return OneWriterManyReaders::load(word);
  }
  template <Kernel K>
  [[nodiscard]] static uint8_t match_words(const uint64_t* words, uint64_t word) {
    pause(1'000);
    return OneWriterManyReaders::match_words<K>(words, word);
  }

 private:
  // Once in `turns`.
  static void pause(unsigned turns) {
    static std::atomic<unsigned> thread_count{0};
    static thread_local std::minstd_rand random(++thread_count);
    if (random() % turns == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
};

struct Pausing : DefaultPolicies {
  using Access = PausingAccess;
  using Probe = LookupCounts;
};
using Table = SharedTable<Mac, uint16_t, Pausing>;

struct Shape {
  uint64_t capacity;
  uint64_t version_counters;
  double load;
};

class SharedLookups : public testing::TestWithParam<Shape> {
 protected:
  static Mac key(uint64_t number) { return Mac::of(number * 0x9E3779B97F4A7C15U >> 16); }

  // Looks random keys up, `kLanes` a call, until so many were; what is wrong is said in `wrong`.
  void read(uint64_t seed, uint64_t lookups, std::string_view& wrong) {
    constexpr size_t kLanes = 16;
    auto reader = table_.reader();
    std::mt19937_64 random(seed);
    std::array<uint64_t, kLanes> numbers;
    std::array<Mac, kLanes> keys;
    std::array<uint16_t, kLanes> values{};
    std::array<LookupOracle::Before, kLanes> before;
    HitArray<kLanes> hits;
    for (uint64_t done = 0; done < lookups && wrong.empty(); done += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        numbers[lane] = random() % key_count_;
        keys[lane] = key(numbers[lane]);
        before[lane] = oracle_.before(numbers[lane]);
      }
      reader.lookup(std::span<const Mac>(keys), std::span<uint16_t>(values), hits);
      for (size_t lane = 0; lane < kLanes && wrong.empty(); ++lane)
        wrong = oracle_.check(numbers[lane], before[lane], hits.test(lane), values[lane]);
    }
    repeats_ += reader.core().probe().repeats;
    ++finished_;
  }

  // Changes random keys, a few under one lock, as long as there are readers.
  void write() {
    std::mt19937_64 random(99);
    while (finished_ < kReaders) {
      const Table::Writer writer = table_.write();
      for (unsigned i = 0; i < 8; ++i) change(*writer, random() % key_count_, random() % 4 != 0);
    }
  }
  void change(Table::Table& table, uint64_t number, bool is_insert) {
    if (is_insert || !oracle_.is_in(number)) {
      const uint16_t value = oracle_.begin_insert(number);
      if (value == 0) return;
      oracle_.end_insert(number, table.insert(key(number), value) != InsertOutcome::kFull);
    } else {
      oracle_.begin_erase(number);
      EXPECT_TRUE(table.erase(key(number)));
      oracle_.end_erase(number);
    }
    ++changes_;
  }

  static constexpr unsigned kReaders = 2;

  uint64_t key_count_ =
      static_cast<uint64_t>(static_cast<double>(GetParam().capacity) * GetParam().load / 0.75);
  LookupOracle oracle_{key_count_};
  Table table_ = Table::create({.capacity = GetParam().capacity,
                                .hash_seed = 5,
                                .pages = PageKind::kSmall,
                                .version_counters = GetParam().version_counters})
                     .value();
  std::atomic<uint64_t> repeats_{0};
  std::atomic<unsigned> finished_{0};
  uint64_t changes_ = 0;
};

TEST_P(SharedLookups, answer_what_was_true_at_some_moment_of_the_call) {
  const uint64_t lookups = step_count(200'000);
  std::array<std::string_view, kReaders> wrong;
  std::array<std::thread, kReaders> readers;
  for (unsigned i = 0; i < kReaders; ++i)
    readers[i] = std::thread([&, i] { read(i, lookups, wrong[i]); });
  write();
  for (std::thread& reader : readers) reader.join();
  for (const std::string_view fault : wrong) EXPECT_EQ(fault, "");
  const auto writer = table_.write();
  const auto violation = writer->audit();
  EXPECT_FALSE(violation) << violation->what;
  EXPECT_GT(changes_, 1'000U);
  RecordProperty("repeats", std::to_string(repeats_));
  RecordProperty("changes", std::to_string(changes_));
}

TEST(SharedTable, refuses_a_number_of_counters_that_is_no_power_of_two) {
  const auto table = SharedTable<Mac, uint16_t>::create({.capacity = 64, .version_counters = 3});
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message,
            "3 version counters are no power of two; leave it at 8192, or take 1, 2, 4 ...");
}

TEST(SharedTable, has_one_writer_at_a_time_and_readers_see_what_it_did) {
  using Fib = SharedTable<Mac, uint16_t>;
  Fib fib = Fib::create({.entries_max = 1'000}).value();
  const Fib::Reader reader = fib.reader();
  const std::array<Mac, 2> keys = {Mac::of(1), Mac::of(2)};
  std::array<uint16_t, 2> ports{};
  HitArray<2> hits;
  {
    auto writer = fib.try_write();
    ASSERT_TRUE(writer);
    EXPECT_FALSE(fib.try_write()) << "one at a time";
    EXPECT_EQ((*writer)->insert(keys[0], 7), InsertOutcome::kInserted);
    EXPECT_EQ(reader.lookup(std::span<const Mac>(keys), std::span<uint16_t>(ports), hits), 1U);
  }
  ASSERT_TRUE(fib.try_write());
  EXPECT_EQ(ports[0], 7);
  EXPECT_FALSE(hits.test(1));
  auto flight = reader.start(std::span<const Mac>(keys));
  EXPECT_EQ(fib.write()->erase(keys[0]), true);
  EXPECT_EQ(reader.lookup(flight, std::span<uint16_t>(ports), hits), 0U)
      << "what was started is answered as the table is";
}

INSTANTIATE_TEST_SUITE_P(Shapes, SharedLookups,
                         testing::Values(Shape{64, 1, 0.5}, Shape{64, 1, 0.97},
                                         Shape{64, 8192, 0.97}, Shape{2048, 1, 0.97},
                                         Shape{2048, 8192, 0.5}, Shape{2048, 8192, 0.97}));

}  // namespace
}  // namespace roost
