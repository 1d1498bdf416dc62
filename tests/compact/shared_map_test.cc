// Value-only tables under two readers while their builder changes them without pause and builds
// them anew (X-117; T-14).
//
// A hundred million lookups a kind, or ROOST_HISTORY_OPERATIONS.
#include "roost/compact/shared_map.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "roost/base/hit_words.h"
#include "roost/traffic/draw.h"
#include "tests/base/step_count.h"
#include "tests/compact/key_sets.h"
#include "tests/compact/shared_kinds.h"
#include "tests/concurrent/pausing_words.h"

namespace roost::compact {
namespace {

[[nodiscard]] uint64_t lookups_wanted() {
  const char* wanted = std::getenv("ROOST_HISTORY_OPERATIONS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : step_count(100'000'000, 400);
}

// What each key has, as its one writer says and readers check. Values of a key are numbered; a
// number is odd while the key is there.
class Truth {
 public:
  explicit Truth(size_t count) : ended_(count), begun_(count) {}

  [[nodiscard]] uint32_t number(size_t key) const { return begun_[key].load(); }
  void begin(size_t key, uint32_t steps = 1) { begun_[key].fetch_add(steps); }
  void end(size_t key) { ended_[key].store(begun_[key].load()); }

  // A value of 31 bits that says whose it is, when, and whether it is whole.
  [[nodiscard]] static uint32_t value(size_t key, uint32_t number) {
    return coded(static_cast<uint16_t>((number & 0x3ff) << 5 | (key & 31)));
  }

  struct Seen {
    uint32_t first;  // the oldest value that may be answered
  };
  [[nodiscard]] Seen before(size_t key) const { return {ended_[key].load()}; }
  // What is wrong with an answer of a lookup that began then.
  [[nodiscard]] std::string fault(size_t key, Seen seen, bool is_hit, uint32_t answer) const {
    const uint32_t last = begun_[key].load();
    bool is_maybe_absent = false;
    for (uint32_t number = seen.first; number <= last; ++number) {
      if (number % 2 == 0) is_maybe_absent = true;
      if (number % 2 == 1 && is_hit && answer == value(key, number)) return "";
    }
    if (is_maybe_absent) return "";  // nothing is certain of what the table has not
    if (!is_hit) return "lost";
    if (code_of(answer) == 0) return "torn";
    return (code_of(answer) & 31) == (key & 31) ? "stale" : "another key's";
  }

 private:
  std::vector<std::atomic<uint32_t>> ended_;
  std::vector<std::atomic<uint32_t>> begun_;
};

TEST(Truth, names_what_is_lost_stale_torn_and_another_key_s) {
  Truth truth(40);
  truth.begin(3);
  truth.end(3);
  const auto seen = truth.before(3);
  EXPECT_EQ(truth.fault(3, seen, true, Truth::value(3, 1)), "");
  EXPECT_EQ(truth.fault(3, seen, false, 0), "lost");
  EXPECT_EQ(truth.fault(3, seen, true, Truth::value(3, 1) ^ 0x10000), "torn");
  EXPECT_EQ(truth.fault(3, seen, true, Truth::value(4, 1)), "another key's");
  truth.begin(3);
  EXPECT_EQ(truth.fault(3, seen, false, 0), "") << "it is being taken out";
  truth.begin(3);
  truth.end(3);
  EXPECT_EQ(truth.fault(3, truth.before(3), true, Truth::value(3, 3)), "");
  EXPECT_EQ(truth.fault(3, truth.before(3), true, Truth::value(3, 1)), "stale");
}

// Of ten keys, four never change, three get new values, three come and go.
template <class Kind>
class SharedRun {
 public:
  explicit SharedRun(uint64_t seed)
      : draw_(seed),
        keys_(vendor_keys(kKeys, seed)),
        truth_(keys_.size()),
        map_(Kind::build(first_entries(), seed)) {}

  // The first wrong answer, or nothing.
  std::string run(uint64_t lookups, unsigned rebuilds) {
    std::array<std::thread, kReaders> readers;
    reading_ = kReaders;
    for (unsigned i = 0; i < kReaders; ++i)
      readers[i] = std::thread([this, i, lookups] { read(i, lookups / kReaders); });
    PausingWords::pause_one_of = 2'000;
    while (reading_ != 0 || rebuilds_ < rebuilds) rebuild_once();
    PausingWords::pause_one_of = 0;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(map_.builder().audit(), std::nullopt);
    EXPECT_EQ(map_.free_retired(), 0U) << "readers are gone";
    return fault_;
  }
  [[nodiscard]] unsigned rebuilds() const { return rebuilds_; }
  [[nodiscard]] uint64_t changes() const { return changes_; }

 private:
  using Builder = typename Kind::Builder;
  using Map = SharedMap<Builder>;
  static constexpr unsigned kReaders = 2;
  static constexpr size_t kKeys = 20'000;
  static constexpr size_t kLanes = 64;
  static constexpr unsigned kChanges = 2'000;

  std::vector<typename Builder::Entry> first_entries() {
    std::vector<typename Builder::Entry> entries;
    for (size_t key = 0; key < keys_.size(); ++key) {
      truth_.begin(key);
      truth_.end(key);
      entries.push_back({keys_[key], Truth::value(key, truth_.number(key))});
    }
    return entries;
  }

  // Changes while a thread builds, as many as have room in any table, and again some until the next
  // time.
  void rebuild_once() {
    auto rebuild = map_.begin_rebuild();
    std::atomic<bool> is_built = false;
    std::thread worker([&] {
      rebuild.run();
      is_built = true;
    });
    for (unsigned i = 0; i < kChanges || !is_built; ++i) {
      if (i < kChanges) {
        change();
      } else {
        std::this_thread::yield();
      }
    }
    worker.join();
    EXPECT_EQ(map_.adopt(std::move(rebuild)), std::nullopt);
    ++rebuilds_;
    for (unsigned i = 0; i < kChanges; ++i) change();
    map_.free_retired();
  }

  void change() {
    const size_t key = draw_.below(keys_.size());
    if (key % 10 < 4) return;
    const bool is_there = truth_.number(key) % 2 == 1;
    const uint64_t at = keys_[key];
    if (key % 10 < 7) {
      truth_.begin(key, 2);
      EXPECT_EQ(map_.update(at, Truth::value(key, truth_.number(key))), ChangeOutcome::kDone);
    } else if (is_there) {
      truth_.begin(key);
      EXPECT_EQ(map_.erase(at), ChangeOutcome::kDone);
    } else {
      const ChangeOutcome outcome = map_.insert(at, Truth::value(key, truth_.number(key) + 1));
      if (outcome != ChangeOutcome::kDone) return;
      truth_.begin(key);
    }
    truth_.end(key);
    ++changes_;
  }

  void read(unsigned reader_number, uint64_t lookups) {
    auto reader = map_.reader();
    traffic::Draw draw(reader_number + 100);
    std::array<size_t, kLanes> numbers{};
    std::array<uint64_t, kLanes> keys{};
    std::array<Truth::Seen, kLanes> before{};
    std::array<uint32_t, kLanes> values{};
    HitArray<kLanes> maybe;
    for (uint64_t done = 0; done < lookups; done += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        numbers[lane] = draw.below(keys_.size());
        keys[lane] = keys_[numbers[lane]];
        before[lane] = truth_.before(numbers[lane]);
      }
      reader.lookup_unverified(keys, values, maybe);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const std::string fault =
            truth_.fault(numbers[lane], before[lane], maybe.test(lane), values[lane]);
        if (!fault.empty()) note(fault + ": key " + std::to_string(numbers[lane]));
      }
    }
    --reading_;
  }
  void note(const std::string& fault) {
    const std::lock_guard lock(mutex_);
    if (fault_.empty()) fault_ = fault;
  }

  traffic::Draw draw_;
  std::vector<uint64_t> keys_;
  Truth truth_;
  Map map_;
  std::atomic<unsigned> reading_{0};
  unsigned rebuilds_ = 0;
  uint64_t changes_ = 0;
  std::mutex mutex_;
  std::string fault_;
};

template <class Kind>
class SharedMaps : public testing::Test {};
using PausingKinds =
    testing::Types<LineKind<PausingWords>, StashKind<PausingWords>, ReseedKind<PausingWords>>;
TYPED_TEST_SUITE(SharedMaps, PausingKinds);

TYPED_TEST(SharedMaps, answer_right_while_they_change_and_are_built_anew) {
  SharedRun<TypeParam> run(1);
  ASSERT_EQ(run.run(lookups_wanted(), 20), "");
  EXPECT_GE(run.rebuilds(), 20U);
  EXPECT_GT(run.changes(), 10'000U);
}

// A rebuild that has no room for what came meanwhile changes nothing.
TEST(SharedMap, a_rebuild_without_room_is_refused_and_given_up) {
  auto keys = random_keys(3'000, 1);
  std::vector<LineMapBuilder<uint64_t>::Entry> entries;
  for (size_t i = 0; i < 20; ++i) entries.push_back({keys[i], 1});
  SharedLineMap<uint64_t> map(
      LineMapBuilder<uint64_t>::build({.load = 0.01, .hash_seed = 1}, entries).value());
  auto reader = map.reader();
  auto rebuild = map.begin_rebuild({.load = 0.97, .hash_seed = 1});
  rebuild.run();
  for (size_t i = 20; i < 1'000; ++i) EXPECT_EQ(map.insert(keys[i], 2), ChangeOutcome::kDone);
  const auto refused = map.adopt(std::move(rebuild));
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->message,
            "the new table has no room for what was inserted while it was built; begin anew");
  EXPECT_EQ(map.builder().size(), 1'000U);
  auto wrong = map.begin_rebuild({.value_bits = 40});
  wrong.run();
  const auto error = map.adopt(std::move(wrong));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message, "value_bits: give 4 to 32");
  std::vector<uint32_t> values(1'000);
  std::vector<uint64_t> words(hit_word_count(1'000));
  EXPECT_EQ(reader.lookup_unverified(std::span(keys).first(1'000), values, HitWords(words)),
            1'000U);
}

// What changes while a table is built is in it, in order by key; and a reader that rests frees
// nothing, one that pauses does not hold anything up.
TEST(SharedMap, logged_changes_are_replayed_and_old_images_freed) {
  const auto keys = dense_keys(1'000);
  SharedParrot map(
      ParrotBuilder::build({.policy = InsertionPolicy::kReseed}, entries_of(keys)).value());
  auto reader = map.reader();
  auto idle = map.reader();
  auto rebuild = map.begin_rebuild();
  EXPECT_EQ(map.update(keys[7], 1), ChangeOutcome::kDone);
  EXPECT_EQ(map.update(keys[7], 2), ChangeOutcome::kDone);
  EXPECT_EQ(map.erase(keys[8]), ChangeOutcome::kDone);
  EXPECT_EQ(map.erase(keys[9]), ChangeOutcome::kDone);
  EXPECT_EQ(map.insert(keys[9], 3), ChangeOutcome::kDone);
  rebuild.run();
  ASSERT_EQ(map.adopt(std::move(rebuild)), std::nullopt);
  std::array<uint32_t, 3> values{};
  HitArray<3> maybe;
  reader.lookup_unverified(std::span(keys).subspan(7, 3), values, maybe);
  EXPECT_EQ(values[0], 2U);
  EXPECT_FALSE(maybe.test(1));
  EXPECT_EQ(values[2], 3U);
  EXPECT_EQ(map.free_retired(), 1U) << "one reader has not passed a point yet";
  idle.pause();
  EXPECT_EQ(map.free_retired(), 0U);
  idle.resume();
  auto again = map.begin_rebuild();
  again.run();
  ASSERT_EQ(map.adopt(std::move(again)), std::nullopt);
  EXPECT_EQ(map.free_retired(), 1U);
  map.give_up(map.begin_rebuild());
  auto last = map.begin_rebuild();
  last.run();
  EXPECT_EQ(map.adopt(std::move(last)), std::nullopt);
}

}  // namespace
}  // namespace roost::compact
