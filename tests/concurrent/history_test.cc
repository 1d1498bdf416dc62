// A table that one thread changes while others look keys up: their histories have an order that
// explains every answer (T-05; ).
//
// Ten million operations, or ROOST_HISTORY_OPERATIONS.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/base/step_count.h"
#include "tests/concurrent/history.h"
#include "tests/concurrent/pausing_words.h"
#include "tests/concurrent/shared_kinds.h"

namespace roost {
namespace {

TEST(History, names_what_is_lost_stale_torn_and_resurrected) {
  History history(2);
  history.add({{100, 200, 1, 7}, {300, 400, 1, 8}, {500, 600, 1, kAbsent}});
  const auto check = [&history](uint64_t begin, uint64_t end, uint16_t code) {
    return history.check({begin, end, 1, code});
  };
  EXPECT_EQ(check(50, 60, kAbsent), "");
  EXPECT_EQ(check(150, 160, kAbsent), "") << "not yet there";
  EXPECT_EQ(check(150, 160, 7), "") << "already there";
  EXPECT_EQ(check(50, 60, 7), "never written") << "not even begun";
  EXPECT_EQ(check(201, 250, kAbsent), "lost");
  EXPECT_EQ(check(399, 450, 7), "");
  EXPECT_EQ(check(401, 450, 7), "stale");
  EXPECT_EQ(check(350, 360, kAbsent), "lost") << "an update does not take it away";
  EXPECT_EQ(check(550, 560, 8), "");
  EXPECT_EQ(check(601, 650, 8), "resurrected");
  EXPECT_EQ(check(350, 360, kTorn), "torn");
  EXPECT_EQ(check(350, 360, 9), "never written");
  EXPECT_EQ(history.check({0, 1'000, 0, kAbsent}), "") << "the other key has no changes";
  history.forget_past();
  EXPECT_EQ(check(601, 650, kAbsent), "");
}

struct Pausing : DefaultPolicies {
  using Access = VersionedAccess<PausingWords>;
  using Probe = LookupCounts;
};

struct Shape {
  double load;
  uint64_t version_counters;
};
constexpr std::array<Shape, 4> kShapes = {{{0.5, 1}, {0.5, 8'192}, {0.97, 1}, {0.97, 8'192}}};

[[nodiscard]] uint64_t operations_wanted() {
  const char* wanted = std::getenv("ROOST_HISTORY_OPERATIONS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : step_count(10'000'000, 40);
}

template <class Kind>
class HistoryRun {
 public:
  explicit HistoryRun(Shape shape)
      : key_count_(static_cast<uint64_t>(double{kCapacity} * shape.load / kPresent)),
        table_(Table::create({.capacity = kCapacity,
                              .hash_seed = 5,
                              .pages = PageKind::kSmall,
                              .version_counters = shape.version_counters})
                   .value()),
        history_(key_count_),
        codes_(key_count_, kAbsent),
        generations_(key_count_, 0) {}

  // So many lookups and changes, in rounds; the first wrong answer, or nothing.
  std::string run(uint64_t operations) {
    for (uint64_t seed = 1; operation_count_ < operations; ++seed) {
      const std::string wrong = run_round(seed);
      if (!wrong.empty()) return "round " + std::to_string(seed) + ": " + wrong;
    }
    const auto violation = table_.write()->audit();
    return violation ? std::string(violation->what) : "";
  }
  [[nodiscard]] uint64_t change_count() const { return change_count_; }
  [[nodiscard]] uint64_t repeat_count() const { return repeat_count_; }

 private:
  using Table = typename Kind::Table;
  static constexpr uint64_t kCapacity = 1'024;
  static constexpr double kPresent = 0.8;  // of the keys, on average
  static constexpr unsigned kReaders = 2;
  static constexpr uint64_t kLookupsOfARound = 100'000;
  static constexpr size_t kLanes = 16;

  std::string run_round(uint64_t seed) {
    std::array<std::vector<HistoryEvent>, kReaders> lookups;
    std::vector<HistoryEvent> changes;
    std::array<std::thread, kReaders> readers;
    reading_ = kReaders;
    for (unsigned i = 0; i < kReaders; ++i)
      readers[i] = std::thread([&, i] { read(seed * kReaders + i, lookups[i]); });
    write(seed, changes);
    for (std::thread& reader : readers) reader.join();

    history_.add(changes);
    change_count_ += changes.size();
    operation_count_ += changes.size();
    for (const std::vector<HistoryEvent>& of_reader : lookups) {
      operation_count_ += of_reader.size();
      for (const HistoryEvent& lookup : of_reader) {
        const std::string_view wrong = history_.check(lookup);
        if (!wrong.empty()) return "key " + std::to_string(lookup.key) + ": " + std::string(wrong);
      }
    }
    history_.forget_past();
    return "";
  }

  void read(uint64_t seed, std::vector<HistoryEvent>& lookups) {
    auto reader = table_.reader();
    std::mt19937_64 random(seed);
    std::array<decltype(Kind::key(0)), kLanes> keys;
    std::array<decltype(Kind::value(0)), kLanes> values{};
    HitArray<kLanes> hits;
    while (lookups.size() < kLookupsOfARound) {
      const auto numbers = drawn_keys<kLanes>(random, key_count_);
      for (size_t lane = 0; lane < kLanes; ++lane) keys[lane] = Kind::key(numbers[lane]);
      const uint64_t begin = history_time();
      Kind::lookup(reader, std::span(std::as_const(keys)), std::span(values), hits);
      const uint64_t end = history_time();
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const uint16_t code = Kind::code(values[lane]);
        lookups.push_back({begin, end, numbers[lane], answer_code(hits.test(lane), code)});
      }
    }
    repeat_count_ += reader.core().probe().repeats;
    --reading_;
  }

  // Changes random keys, a few under one lock, as long as somebody reads. A change has ended when
  // the lock is given back.
  void write(uint64_t seed, std::vector<HistoryEvent>& changes) {
    std::mt19937_64 random(seed);
    PausingWords::pause_one_of = 100;
    while (reading_ != 0) {
      const size_t first = changes.size();
      {
        const typename Table::Writer writer = table_.write();
        for (unsigned i = 0; i < 8; ++i) change(*writer, random, changes);
      }
      const uint64_t end = history_time();
      for (size_t i = first; i < changes.size(); ++i) changes[i].end = end;
    }
    PausingWords::pause_one_of = 0;
  }

  void change(typename Table::Table& table, std::mt19937_64& random,
              std::vector<HistoryEvent>& changes) {
    const auto number = static_cast<uint32_t>(random() % key_count_);
    const uint64_t begin = history_time();
    if (random() % 5 == 0) {
      EXPECT_EQ(table.erase(Kind::key(number)), codes_[number] != kAbsent);
      codes_[number] = kAbsent;
    } else {
      // Four bits that say whose it is; later values of a key differ from earlier ones.
      const uint32_t generation = generations_[number]++ % 2'046 + 1;
      const auto code = static_cast<uint16_t>(generation << 4 | (number & 15));
      if (table.insert(Kind::key(number), Kind::value(code)) == InsertOutcome::kFull) return;
      codes_[number] = code;
    }
    changes.push_back({begin, 0, number, codes_[number]});
  }

  uint64_t key_count_;
  Table table_;
  History history_;
  std::vector<uint16_t> codes_;  // what each key has
  std::vector<uint32_t> generations_;
  std::atomic<unsigned> reading_{0};
  std::atomic<uint64_t> repeat_count_{0};
  uint64_t operation_count_ = 0;
  uint64_t change_count_ = 0;
};

template <class Kind>
class Histories : public testing::Test {};
using Kinds = testing::Types<PackedKind<Pausing>, HintedKind<Pausing>, InlineKind<Pausing>,
                             SplitKind<Pausing>>;
TYPED_TEST_SUITE(Histories, Kinds);

TYPED_TEST(Histories, have_an_order_that_explains_every_answer) {
  uint64_t repeats = 0;
  for (const Shape shape : kShapes) {
    HistoryRun<TypeParam> run(shape);
    ASSERT_EQ(run.run(operations_wanted() / (4 * kShapes.size())), "")
        << "load " << shape.load << ", " << shape.version_counters << " version counters";
    EXPECT_GT(run.change_count(), 100U);
    repeats += run.repeat_count();
  }
  EXPECT_GT(repeats, 0U) << "no reader ever had to search again";
}

}  // namespace
}  // namespace roost
