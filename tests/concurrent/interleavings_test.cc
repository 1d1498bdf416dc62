// A writer and a reader of a shared table in one thread, which change turns between any two words
// that they store or load.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/base/step_count.h"
#include "tests/concurrent/history.h"
#include "tests/concurrent/shared_kinds.h"
#include "tests/concurrent/turn_taking.h"

namespace roost {
namespace {

struct Outcome {
  std::string_view fault;
  uint64_t repeats;
};

// So many changes, and lookups until they are done.
template <class Kind>
class Run {
 public:
  Run(uint64_t seed, uint64_t version_counters)
      : seed_(seed),
        table_(Table::create({.entries_max = 30,
                              .hash_seed = seed,
                              .pages = PageKind::kSmall,
                              .version_counters = version_counters})
                   .value()) {}

  Outcome run() {
    Fibres(seed_, 1 + static_cast<unsigned>(seed_ % 8))
        .run([this] { write(); }, [this] { read(); });
    const auto writer = table_.write();
    const auto violation = writer->audit();
    EXPECT_FALSE(violation) << violation->what;
    History history(kKeys);
    history.add(changes_);
    for (const HistoryEvent& lookup : lookups_) {
      if (outcome_.fault.empty()) outcome_.fault = history.check(lookup);
    }
    return outcome_;
  }

 private:
  using Table = typename Kind::Table;
  static constexpr uint32_t kKeys = 40;  // more than surely have room
  static constexpr size_t kLanes = 4;

  void write() {
    std::mt19937_64 random(seed_);
    for (unsigned change = 0; change < 500; ++change) {
      HistoryEvent event{.begin = ++time_, .end = 0, .key = 0, .code = kAbsent};
      event.key = static_cast<uint32_t>(random() % kKeys);
      const uint16_t code = codes_[event.key];
      const auto key = Kind::key(event.key);
      {
        const typename Table::Writer writer = table_.write();
        if (code != kAbsent && random() % 2 == 0) {
          EXPECT_TRUE(writer->erase(key));
        } else {
          event.code = next_code(event.key);
          if (writer->insert(key, Kind::value(event.code)) == InsertOutcome::kFull) continue;
        }
      }
      codes_[event.key] = event.code;
      event.end = ++time_;
      changes_.push_back(event);
    }
    is_over_ = true;
  }

  // Which says whose it is by its last bits.
  [[nodiscard]] uint16_t next_code(uint32_t key) {
    return static_cast<uint16_t>(uint32_t{++insert_count_} << 6 | key);
  }

  void read() {
    auto reader = table_.reader();
    std::mt19937_64 random(seed_ + 1);
    std::array<decltype(Kind::key(0)), kLanes> keys;
    std::array<decltype(Kind::value(0)), kLanes> values{};
    HitArray<kLanes> hits;
    while (!is_over_) {
      const auto numbers = drawn_keys<kLanes>(random, kKeys);
      for (size_t lane = 0; lane < kLanes; ++lane) keys[lane] = Kind::key(numbers[lane]);
      const uint64_t begin = ++time_;
      Kind::lookup(reader, std::span(std::as_const(keys)), std::span(values), hits);
      const uint64_t end = ++time_;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const uint16_t code = Kind::code(values[lane]);
        lookups_.push_back({begin, end, numbers[lane], answer_code(hits.test(lane), code)});
      }
    }
    outcome_.repeats = reader.core().probe().repeats;
  }

  uint64_t seed_;
  Table table_;
  uint64_t time_ = 0;
  std::array<uint16_t, kKeys> codes_{};  // what each key has
  uint16_t insert_count_ = 0;
  std::vector<HistoryEvent> changes_;
  std::vector<HistoryEvent> lookups_;
  Outcome outcome_{};
  bool is_over_ = false;
};

constexpr uint64_t kSeeds = 200;

template <class Kind>
class Interleavings : public testing::Test {};
using Kinds = testing::Types<PackedKind<TurnTaking>, HintedKind<TurnTaking>, InlineKind<TurnTaking>,
                             SplitKind<TurnTaking>>;
TYPED_TEST_SUITE(Interleavings, Kinds);

TYPED_TEST(Interleavings, answer_what_was_true_at_some_moment_of_the_call) {
  for (const uint64_t version_counters : {1U, 2U, 8'192U}) {
    SCOPED_TRACE(version_counters);
    uint64_t repeats = 0;
    for (uint64_t seed = 0; seed < step_count(kSeeds); ++seed) {
      const Outcome outcome = Run<TypeParam>(seed, version_counters).run();
      ASSERT_EQ(outcome.fault, "") << "seed " << seed;
      repeats += outcome.repeats;
    }
    EXPECT_GT(repeats, 100U) << "no reader ever had to search again";
  }
}

}  // namespace
}  // namespace roost
