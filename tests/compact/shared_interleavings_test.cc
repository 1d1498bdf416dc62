// A builder and a reader of a value-only table in one thread, which change turns between any two
// words that they store or load.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "roost/base/hit_words.h"
#include "tests/base/step_count.h"
#include "tests/compact/shared_kinds.h"
#include "tests/concurrent/history.h"
#include "tests/concurrent/turn_taking.h"

namespace roost::compact {
namespace {

struct CountingWords : TurnTakingWords {
  static inline uint64_t waits = 0;

  static void wait(unsigned attempt) {
    ++waits;
    TurnTakingWords::wait(attempt);
  }
};

// So many changes, and lookups until they are done.
template <class Kind>
class CompactRun {
 public:
  explicit CompactRun(uint64_t seed) : seed_(seed), builder_(Kind::build(first_entries(), seed)) {}

  std::string_view run() {
    Fibres(seed_, 1 + static_cast<unsigned>(seed_ % 8))
        .run([this] { write(); }, [this] { read(); });
    EXPECT_EQ(builder_.audit(), std::nullopt);
    History history(kKeys);
    history.add(changes_);
    for (const HistoryEvent& lookup : lookups_) {
      const std::string_view fault = fault_of<Kind>(history, lookup);
      if (!fault.empty()) return fault;
    }
    return "";
  }
  [[nodiscard]] uint64_t change_count() const { return changes_.size(); }

 private:
  using Builder = typename Kind::Builder;
  static constexpr uint32_t kKeys = 90;
  static constexpr uint32_t kKeysAtFirst = 60;
  static constexpr size_t kLanes = 4;

  static uint64_t key(uint32_t number) { return 0x0200'0000'0000 + uint64_t{number} * 5; }

  std::vector<typename Builder::Entry> first_entries() {
    std::vector<typename Builder::Entry> entries;
    for (uint32_t number = 0; number < kKeysAtFirst; ++number) {
      codes_[number] = next_code(number);
      entries.push_back({key(number), coded(codes_[number])});
      changes_.push_back({.begin = 0, .end = 0, .key = number, .code = codes_[number]});
    }
    return entries;
  }

  void write() {
    std::mt19937_64 random(seed_);
    for (unsigned change = 0; change < 400; ++change) {
      HistoryEvent event{.begin = ++time_, .end = 0, .key = 0, .code = kAbsent};
      event.key = static_cast<uint32_t>(random() % kKeys);
      ChangeOutcome outcome = ChangeOutcome::kDone;
      if (codes_[event.key] != kAbsent && random() % 2 == 0) {
        outcome = builder_.erase(key(event.key));
      } else {
        event.code = next_code(event.key);
        outcome = codes_[event.key] != kAbsent ? builder_.update(key(event.key), coded(event.code))
                                               : builder_.insert(key(event.key), coded(event.code));
      }
      if (outcome != ChangeOutcome::kDone) continue;
      codes_[event.key] = event.code;
      event.end = ++time_;
      changes_.push_back(event);
    }
    is_over_ = true;
  }

  // Which says whose it is by its last bits.
  uint16_t next_code(uint32_t number) {
    return static_cast<uint16_t>(uint32_t{++code_count_} << 7 | number);
  }

  void read() {
    const auto reader = builder_.shared_reader();
    std::mt19937_64 random(seed_ + 1);
    std::array<uint64_t, kLanes> keys{};
    std::array<uint32_t, kLanes> values{};
    HitArray<kLanes> maybe;
    while (!is_over_) {
      const auto numbers = drawn_keys<kLanes>(random, kKeys);
      for (size_t lane = 0; lane < kLanes; ++lane) keys[lane] = key(numbers[lane]);
      const uint64_t begin = ++time_;
      reader.lookup_unverified(keys, values, maybe);
      const uint64_t end = ++time_;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const uint16_t code = answer_code(maybe.test(lane), code_of(values[lane]));
        lookups_.push_back({begin, end, numbers[lane], code});
      }
    }
  }

  uint64_t seed_;
  uint64_t time_ = 0;
  std::array<uint16_t, kKeys> codes_{};  // what each key has
  uint16_t code_count_ = 0;
  std::vector<HistoryEvent> changes_;
  std::vector<HistoryEvent> lookups_;
  Builder builder_;
  bool is_over_ = false;
};

template <class Kind>
class CompactInterleavings : public testing::Test {};
using TurnTakingKinds = testing::Types<LineKind<CountingWords>, WideLineKind<CountingWords>,
                                       KeyedLineKind<CountingWords>, StashKind<CountingWords>,
                                       ReseedKind<CountingWords>>;
TYPED_TEST_SUITE(CompactInterleavings, TurnTakingKinds);

TYPED_TEST(CompactInterleavings, answer_what_was_true_at_some_moment_of_the_call) {
  CountingWords::waits = 0;
  uint64_t changes = 0;
  const uint64_t seeds = step_count(300);
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    CompactRun<TypeParam> run(seed);
    ASSERT_EQ(run.run(), "") << "seed " << seed;
    changes += run.change_count();
  }
  EXPECT_GT(CountingWords::waits, seeds) << "no reader ever had to look again";
  EXPECT_GT(changes, 200 * seeds);
}

}  // namespace
}  // namespace roost::compact
