// Entries that expire while readers give them a new time to live: each lives or is reclaimed,
// never both (X-88; CT-05). Writer and reader take turns in one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include "tests/base/step_count.h"
#include "tests/concurrent/shared_kinds.h"
#include "tests/concurrent/turn_taking.h"

namespace roost {
namespace {

constexpr uint64_t kKeys = 32;
constexpr TickCount kTimeout = 6;

// What is known of each key, by what was done before.
struct Lives {
  struct Of {
    bool is_there = false;
    bool is_coming = false;  // an insert has begun
    uint64_t until = 0;      // the entry is live at least up to and including this tick
  };
  std::array<Of, kKeys> keys;
  uint64_t now = 1;     // the tick that the table knows
  uint64_t coming = 1;  // the one that it is told, or knows
  uint64_t reclaimed = 0;
  uint64_t refreshed = 0;
  std::string_view fault;
};

struct NoteReclaimed {
  Lives* lives = nullptr;
  template <class Key, class Value>
  void operator()(const Key& /*key*/, const Value& value) const {
    Lives::Of& of = lives->keys[value.code() - 1];
    if (!of.is_there) lives->fault = "reclaimed twice";
    if (of.until >= lives->now) lives->fault = "reclaimed though it was given more time";
    of.is_there = false;
    ++lives->reclaimed;
  }
};

struct TimedTurnTaking : TurnTaking {
  using Expiry = SlotTimers;
  using EvictionCallback = NoteReclaimed;
};

template <class Kind>
class Run {
 public:
  explicit Run(uint64_t seed)
      : seed_(seed),
        table_(Table::create({.entries_max = 16, .hash_seed = seed, .pages = PageKind::kSmall},
                             {&lives_})
                   .value()) {
    table_.write()->advance(Tick{lives_.now});
  }

  Lives run() {
    Fibres(seed_, 1 + static_cast<unsigned>(seed_ % 64))
        .run([this] { write(); }, [this] { read(); });
    const auto writer = table_.write();
    const auto violation = writer->audit();
    EXPECT_FALSE(violation) << violation->what;
    return lives_;
  }

 private:
  using Table = typename Kind::Table;

  void write() {
    std::mt19937_64 random(seed_);
    for (unsigned change = 0; change < 2'000 && lives_.fault.empty(); ++change) {
      const typename Table::Writer writer = table_.write();
      if (random() % 6 == 0) {
        ++lives_.coming;
        writer->advance(Tick{lives_.coming});
        lives_.now = lives_.coming;
        writer->maintain(random() % 4);
      } else {
        insert(*writer, random() % kKeys);
      }
    }
    is_over_ = true;
  }

  void insert(typename Table::Table& table, uint64_t number) {
    const auto value = Kind::value(static_cast<uint16_t>(number + 1));
    Lives::Of& of = lives_.keys[number];
    of.is_coming = true;
    const InsertOutcome outcome = table.insert(Kind::key(number), value, kTimeout);
    of.is_coming = false;
    if (outcome == InsertOutcome::kFull) return;
    of.is_there = true;
    of.until = lives_.now + kTimeout;
  }

  void read() {
    auto reader = table_.reader();
    std::mt19937_64 random(seed_ + 1);
    std::array<decltype(Kind::key(0)), 1> keys;
    std::array<decltype(Kind::value(0)), 1> values{};
    HitArray<1> hits;
    while (!is_over_ && lives_.fault.empty()) {
      const uint64_t number = random() % kKeys;
      Lives::Of& of = lives_.keys[number];
      keys[0] = Kind::key(number);
      const uint64_t begun = lives_.now;
      const bool was_there = of.is_there;
      const uint64_t was_until = of.until;
      reader.lookup_refresh(std::span(std::as_const(keys)), Timeouts(kTimeout), std::span(values),
                            hits);
      if (!hits.test(0)) {
        if (was_there && of.is_there && was_until >= lives_.coming) lives_.fault = "lost";
        continue;
      }
      if (Kind::code(values[0]) != number + 1) lives_.fault = "another key's value";
      if (!of.is_there) {
        if (!of.is_coming && lives_.now <= begun + kTimeout)
          lives_.fault = "reclaimed and given more time";
        continue;
      }
      of.until = std::max(of.until, begun + kTimeout);
      ++lives_.refreshed;
    }
  }

  uint64_t seed_;
  Lives lives_;
  Table table_;
  bool is_over_ = false;
};

template <class Kind>
class ExpiryInterleavings : public testing::Test {};
using Kinds = testing::Types<InlineKind<TimedTurnTaking>, SplitKind<TimedTurnTaking>>;
TYPED_TEST_SUITE(ExpiryInterleavings, Kinds);

TYPED_TEST(ExpiryInterleavings, an_entry_lives_or_is_reclaimed) {
  uint64_t reclaimed = 0;
  uint64_t refreshed = 0;
  for (uint64_t seed = 0; seed < step_count(200, 20); ++seed) {
    const Lives lives = Run<TypeParam>(seed).run();
    ASSERT_EQ(lives.fault, "") << "seed " << seed;
    reclaimed += lives.reclaimed;
    refreshed += lives.refreshed;
  }
  EXPECT_GT(reclaimed, 1'000U);
  EXPECT_GT(refreshed, 1'000U);
}

}  // namespace
}  // namespace roost
