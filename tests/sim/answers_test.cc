// Every word that a simulated lookup ends with is what the software table says: all formats and
// switches, blocking and non-blocking, one core and several. ROOST_SIM_LOOKUPS says how many
// lookups a format; 10,000,000, as in `./dev test --all`, take minutes each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "roost/hash/crc32c_hash.h"
#include "roost/table/flow_table.h"
#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"
#include "tests/sim/table_kinds.h"

namespace roost::sim {
namespace {

uint64_t lookups_wanted() {
  const char* wanted = std::getenv("ROOST_SIM_LOOKUPS");
  return wanted == nullptr ? 8000 : std::strtoull(wanted, nullptr, 10);
}

constexpr uint64_t kKeys = 6000;  // in a table; as many others are looked up

// What a program looks up: padded keys by number, and what is right.
struct Question {
  std::function<KeyBytes(uint64_t)> key;
  std::function<bool(uint64_t, uint64_t word)> is_right;
  unsigned key_bytes;
};

// Stores keys and looks them up, by LOOKUP_B, or eight at a time by LOOKUP_NB into a line of zeroes
// that snapshots wait for.
class Asking final : public Program {
 public:
  Asking(const LookupBench& bench, const Question& question, Tile core, uint64_t count,
         bool by_eight)
      : bench_(bench), question_(question), core_(core), count_(count), by_eight_(by_eight) {}

  Fetch fetch(Op& op) override {
    if (queue_.empty()) {
      if (waits_) return Fetch::kNotYet;
      if (next_ >= count_) return Fetch::kEnd;
      by_eight_ ? ask_eight() : ask_one();
    }
    op = queue_.front();
    queue_.erase(queue_.begin());
    if (op.kind == OpKind::kSnapshot) waits_ = true;
    return Fetch::kOp;
  }
  void completed(uint32_t tag, Cycle /*when*/, std::span<const std::byte> bytes) override {
    std::array<uint64_t, 8> words{};
    std::memcpy(words.data(), bytes.data(), bytes.size());
    if (!by_eight_) {
      check(numbers_[tag - 1], words[0]);
      return;
    }
    if (std::ranges::count(words, kPendingWord) != 0) {
      queue_.push_back(snapshot());
    } else {
      for (size_t lane = 0; lane < 8; ++lane) check(numbers_[lane], words[lane]);
    }
    waits_ = false;
  }
  uint64_t asked = 0;
  uint64_t found = 0;
  uint64_t wrong = 0;

 private:
  void put(uint64_t number, uint64_t address) {
    const KeyBytes key = question_.key(number);
    for (unsigned part = 0; part < question_.key_bytes; part += 16) {
      Op op{.kind = OpKind::kStore, .bytes = 16, .address = address + part};
      std::memcpy(op.data.data(), key.data() + part, 16);
      queue_.push_back(op);
    }
  }
  [[nodiscard]] uint64_t draw() { return traffic::mix(++next_ * 16 + core_) % (2 * kKeys); }
  // Keys of 13 bytes and of 40 cross lines now and then.
  [[nodiscard]] uint64_t place(uint64_t lane) const {
    return kKeysAddress + uint64_t{core_} * 8192 + lane % 32 * 128 + lane * 7;
  }
  void ask_one() {
    numbers_.push_back(draw());
    const uint64_t address = place(numbers_.size() % 32);
    put(numbers_.back(), address);
    queue_.push_back({.kind = OpKind::kLookupB,
                      .bytes = static_cast<uint8_t>(question_.key_bytes),
                      .address = address,
                      .table = bench_.table,
                      .tag = static_cast<uint32_t>(numbers_.size())});
  }
  void ask_eight() {
    queue_.push_back({.kind = OpKind::kStore, .bytes = 64, .address = results()});
    numbers_.clear();
    for (uint64_t lane = 0; lane < 8; ++lane) {
      numbers_.push_back(draw());
      put(numbers_.back(), place(lane));
    }
    for (uint64_t lane = 0; lane < 8; ++lane) {
      queue_.push_back({.kind = OpKind::kLookupNb,
                        .bytes = static_cast<uint8_t>(question_.key_bytes),
                        .address = place(lane),
                        .table = bench_.table,
                        .result = results() + 8 * lane});
    }
    queue_.push_back(snapshot());
  }
  [[nodiscard]] uint64_t results() const { return kResultsAddress + uint64_t{core_} * 4096; }
  [[nodiscard]] Op snapshot() const {
    return {.kind = OpKind::kSnapshot, .bytes = 64, .address = results(), .tag = 1};
  }
  void check(uint64_t number, uint64_t word) {
    ++asked;
    if (is_found(word)) ++found;
    if (!question_.is_right(number, word)) ++wrong;
  }

  const LookupBench& bench_;
  const Question& question_;
  Tile core_;
  uint64_t count_;
  bool by_eight_;
  bool waits_ = false;
  uint64_t next_ = 0;
  std::vector<Op> queue_;
  std::vector<uint64_t> numbers_;
};

void expect_right(LookupBench& bench, const Question& question) {
  ASSERT_EQ(audit_table(bench.machine.bytes(), bench.table), std::nullopt);
  std::vector<std::unique_ptr<Asking>> programs;
  const uint64_t each = lookups_wanted() / 4;
  for (Tile core = 0; core < 4; ++core) {
    programs.push_back(std::make_unique<Asking>(bench, question, core * 5, each, core % 2 == 1));
    bench.machine.start(core * 5, *programs.back());
  }
  const Result<Cycle> ended = bench.machine.run();
  ASSERT_TRUE(ended.ok()) << ended.error().message;
  uint64_t found = 0;
  for (const auto& program : programs) {
    EXPECT_GE(program->asked, each);
    EXPECT_EQ(program->wrong, 0U);
    found += program->found;
  }
  EXPECT_NEAR(static_cast<double>(found), 2.0 * static_cast<double>(each),
              0.2 * static_cast<double>(each));
  EXPECT_EQ(bench.machine.memory().audit(), std::nullopt);
  EXPECT_EQ(bench.machine.bytes().bytes_outside(), 0U);
}

// A FlowTable of one kind under several settings of the switches.
template <class Key, class Value, class Policies>
void expect_table_right(const Parameters& parameters) {
  using Table = FlowTable<Key, Value, Policies>;
  Table table = Table::create({.entries_max = kKeys, .hash_seed = 5}).value();
  for (uint64_t i = 0; i < kKeys; ++i)
    ASSERT_EQ((table.insert(typed_key<Key, Policies>(2 * i), typed_value<Value>(2 * i))),
              InsertOutcome::kInserted);
  if constexpr (std::is_same_v<typename Policies::Hash, Crc32cHash>) {
    ASSERT_GT(table.stats().stashed, 0U);
  }
  LookupBench bench(parameters, image_of(table));
  Question question;
  question.key_bytes = sizeof(Key);
  question.key = [](uint64_t number) {
    KeyBytes bytes{};
    const Key key = typed_key<Key, Policies>(number);
    std::memcpy(bytes.data(), &key, sizeof(key));
    return bytes;
  };
  question.is_right = [&](uint64_t number, uint64_t word) {
    const Value* value = table.find(typed_key<Key, Policies>(number));
    if (value == nullptr) return word == kNotFoundWord;
    if (!is_found(word)) return false;
    Value got{};
    if (sizeof(Value) > 7) {
      std::array<std::byte, sizeof(Value)> bytes;
      bench.machine.bytes().read(payload_of(word), bytes);
      std::memcpy(&got, bytes.data(), sizeof(got));
    } else {
      const uint64_t payload = payload_of(word);
      std::memcpy(&got, &payload, sizeof(got));
    }
    return std::memcmp(&got, value, sizeof(got)) == 0;
  };
  expect_right(bench, question);
}

Parameters ours() {
  Parameters parameters = default_parameters();
  parameters.filter = FilterChoice::kOn;
  parameters.key = KeyChoice::kCommand;
  parameters.hash = HashChoice::kCommand;
  parameters.dispatch = DispatchChoice::kBucket;
  parameters.lookup_b = LookupBChoice::kLoad;
  return parameters;
}
Parameters inclusive() {
  Parameters parameters = default_parameters();
  parameters.llc = LlcPolicy::kInclusive;
  parameters.lines = LinesChoice::kLocal;
  parameters.lookup_b = LookupBChoice::kLoad;
  parameters.prefetch = PrefetchChoice::kAdjacent;
  // Small caches, so that lines come and go.
  parameters.l2_bytes = 1 << 15;
  parameters.l2_ways = 8;
  parameters.llc_slice_bytes = 1 << 14;
  return parameters;
}

using traffic::Key104;
using traffic::Key128;
using traffic::Value128;
using traffic::Value32;

TEST(Answers, split_keyed) {
  expect_table_right<Key128, Value128, KeyedPolicies<LayoutChoice::kSplit>>(default_parameters());
}
TEST(Answers, split_keyed_ours) {
  expect_table_right<Key128, Value32, KeyedPolicies<LayoutChoice::kSplit>>(ours());
}
TEST(Answers, split_crc32c) {
  expect_table_right<Key320, Value32, CrcPolicies<LayoutChoice::kSplit>>(inclusive());
}
TEST(Answers, split_crc32c_wide_values) {
  expect_table_right<Key320, Value128, CrcPolicies<LayoutChoice::kSplit>>(ours());
}
TEST(Answers, inline_of_three_keyed) {
  expect_table_right<Key104, Value32, KeyedPolicies<LayoutChoice::kInline>>(default_parameters());
}
TEST(Answers, inline_of_two_keyed) {
  expect_table_right<Key104, Value128, KeyedPolicies<LayoutChoice::kInline>>(ours());
}
TEST(Answers, inline_crc32c) {
  expect_table_right<Key104, Value32, CrcPolicies<LayoutChoice::kInline>>(inclusive());
}

void expect_paper_right(TableFormat format, uint64_t buckets, const Parameters& parameters) {
  const PaperTable table = paper_table(kKeys, buckets, format);
  LookupBench bench(parameters, image_of(table));
  const Question question{
      [](uint64_t number) { return bytes_of(key_of(number)); },
      [](uint64_t number, uint64_t word) {
        return word == (number % 2 == 0 && number < 2 * kKeys ? found_word(number) : kNotFoundWord);
      },
      16};
  expect_right(bench, question);
}

TEST(Answers, paper_cuckoo) {
  expect_paper_right(TableFormat::kPaperCuckoo, 1024, default_parameters());
}
TEST(Answers, paper_cuckoo_inclusive) {
  expect_paper_right(TableFormat::kPaperCuckoo, 1024, inclusive());
}
TEST(Answers, paper_cuckoo_ours) { expect_paper_right(TableFormat::kPaperCuckoo, 1024, ours()); }
TEST(Answers, paper_single) {
  expect_paper_right(TableFormat::kPaperSingle, 8192, default_parameters());
}

TEST(Answers, x64_a_value_of_zero_a_miss_and_a_pending_lookup_differ) {
  const PaperTable table = paper_table(10, 16);
  LookupBench bench(default_parameters(), image_of(table));
  EXPECT_EQ(bench.look_up(0, 0).word, 2U) << "found, with the value 0";
  EXPECT_EQ(bench.look_up(0, 1).word, 1U) << "not found";
  EXPECT_EQ(bench.look_up(0, 4).word, 4U * 4 + 2);
  EXPECT_EQ(kPendingWord, 0U);
}

TEST(Answers, a_mask_lets_only_some_bits_count) {
  // The first word and the low 12 bits of the second one.
  std::array<std::byte, 16> bits{};
  std::fill_n(bits.begin(), 9, std::byte{0xFF});
  bits[9] = std::byte{0x0F};
  PaperTable table = PaperTable::create({.buckets = 64, .entries = 100, .seed = 3}).value();
  for (uint64_t i = 0; i < 100; ++i) {
    traffic::Key128 key = key_of(i);
    key.words[1] &= 0xFFF;
    ASSERT_TRUE(table.insert(std::as_bytes(std::span(&key, 1)), i));
  }
  for (const Parameters& parameters : {default_parameters(), ours()}) {
    LookupBench bench(parameters, image_of(table), KeyMask::of(bits).value());
    for (uint64_t i = 0; i < 100; i += 7) {
      traffic::Key128 key = key_of(i);
      key.words[1] |= traffic::mix(i) << 12;
      bench.run(0, {{.kind = OpKind::kStore,
                     .bytes = 16,
                     .address = kKeysAddress,
                     .data = {key.words[0], key.words[1]}}});
      Op lookup = bench.lookup_b(0, 1);
      EXPECT_EQ(bench.run(0, {lookup}).of(1).word, found_word(i));
    }
  }
}

TEST(Answers, a_table_that_points_outside_of_itself_is_refused) {
  PaperTable table = paper_table(10, 16);
  LookupBench bench(default_parameters(), image_of(table));
  const uint64_t bucket = bucket_address(bench.metadata, bench.places(0).primary);
  for (unsigned slot = 0; slot < 8; ++slot) {
    const uint64_t word = bench.machine.bytes().read_word(bucket + uint64_t{8} * slot);
    bench.machine.bytes().write_word(bucket + uint64_t{8} * slot, word | 0xFFFFFFULL << 40);
  }
  EXPECT_EQ(bench.look_up(3, 0).word, kRefusedWord);
  EXPECT_EQ(
      bench.machine.accelerators().tile(bench.home(bench.table)).accelerator().counts().refused,
      1U);
  EXPECT_EQ(bench.machine.memory().audit(), std::nullopt);
  Op nowhere = bench.lookup_b(0, 1);
  nowhere.table = kKeysAddress + 4096;
  EXPECT_EQ(bench.run(0, {nowhere}).of(1).word, kRefusedWord) << "no metadata there";
}

}  // namespace
}  // namespace roost::sim
