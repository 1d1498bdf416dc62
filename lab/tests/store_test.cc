// Connections in records beside any table: every table is an index, and every expiry shows the same
// as timers in our table's slots.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lab/store/last_seen.h"
#include "lab/store/stores.h"
#include "lab/tests/eal_main.h"
#include "roost/conntrack/tables.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

using Key = net::FlowKey4;

Key key_of(uint64_t number) {
  Key key;
  key.source = {{static_cast<uint8_t>(number >> 24), static_cast<uint8_t>(number >> 16),
                 static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)}};
  key.source_port = static_cast<uint16_t>(number * 7);
  key.protocol = net::IpProtocol::kTcp;
  return key;
}

// The indices that a whole walk meets, each once.
std::set<uint32_t> walked(Index<Key>& index) {
  std::set<uint32_t> met;
  std::array<uint32_t, 7> some;
  while (met.size() < index.size()) {
    const size_t count = index.next_indices(some);
    for (const uint32_t one : std::span(some).first(count))
      if (!met.insert(one).second) return met;  // a round without all
  }
  return met;
}

class Stores : public testing::TestWithParam<StoreKind> {};
INSTANTIATE_TEST_SUITE_P(All, Stores, testing::ValuesIn(store_kinds()),
                         [](const auto& one) { return std::string(one.param.name); });

// Random inserts and erasures beside a map, then every key and every index.
TEST_P(Stores, give_each_key_an_index_of_its_own) {
  constexpr uint64_t kEntries = 50'000;
  auto made = GetParam().make_index({.capacity = kEntries * 10 / 9, .entries_max = kEntries});
  ASSERT_TRUE(made) << made.error().message;
  Index<Key>& index = *made.value();
  std::map<uint64_t, uint32_t> expected;
  std::set<uint32_t> taken;
  traffic::Draw draw(1);
  for (uint64_t i = 0; i < 400'000; ++i) {
    const uint64_t number = draw.below(2 * kEntries);
    const auto held = expected.find(number);
    if (draw.below(3) == 0) {
      const std::optional<uint32_t> erased = index.erase(key_of(number));
      ASSERT_EQ(erased.has_value(), held != expected.end());
      if (!erased) continue;
      ASSERT_EQ(*erased, held->second);
      taken.erase(*erased);
      expected.erase(held);
    } else if (held != expected.end() || expected.size() < kEntries) {
      const std::optional<uint32_t> given = index.insert(key_of(number));
      ASSERT_TRUE(given.has_value());
      ASSERT_LT(*given, index.index_count());
      if (held != expected.end()) {
        ASSERT_EQ(*given, held->second);
      } else {
        ASSERT_TRUE(taken.insert(*given).second) << "two keys have one index";
        expected.emplace(number, *given);
      }
    }
    ASSERT_EQ(index.size(), expected.size());
  }
  EXPECT_GT(expected.size(), kEntries * 9 / 10);
  EXPECT_EQ(walked(index), taken);
  const std::array<std::byte, 64> record{};
  for (uint64_t first = 0; first < 2 * kEntries; first += kIndexLanesMax) {
    std::array<Key, kIndexLanesMax> keys;
    for (size_t lane = 0; lane < kIndexLanesMax; ++lane) keys[lane] = key_of(first + lane);
    std::array<uint32_t, kIndexLanesMax> indices;
    HitArray<kIndexLanesMax> hits;
    index.lookup(keys, {record.data(), 0}, indices, hits);
    for (size_t lane = 0; lane < kIndexLanesMax; ++lane) {
      const auto held = expected.find(first + lane);
      ASSERT_EQ(hits.test(lane), held != expected.end());
      if (!hits.test(lane)) continue;
      ASSERT_EQ(indices[lane], held->second);
      ASSERT_EQ(index.key_at(indices[lane]), keys[lane]);
    }
  }
}

TEST_P(Stores, keep_small_values) {
  constexpr uint64_t kEntries = 20'000;
  auto made = GetParam().make_values({.capacity = kEntries * 10 / 9, .entries_max = kEntries});
  ASSERT_TRUE(made) << made.error().message;
  PlainTable<Key> table(std::move(made).value());
  std::map<uint64_t, uint32_t> expected;
  traffic::Draw draw(2);
  for (uint64_t i = 0; i < 200'000; ++i) {
    const uint64_t number = draw.below(kEntries);
    if (draw.below(3) == 0) {
      ASSERT_EQ(table.erase(key_of(number)), expected.erase(number) != 0);
    } else {
      const auto value = static_cast<uint32_t>(draw.word());
      ASSERT_EQ(table.insert(key_of(number), value), InsertOutcome::kInserted);
      expected[number] = value;
    }
  }
  ASSERT_EQ(table.size(), expected.size());
  for (uint64_t number = 0; number < kEntries; ++number) {
    const uint32_t* found = table.find(key_of(number));
    const auto held = expected.find(number);
    ASSERT_EQ(found != nullptr, held != expected.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, held->second);
    }
  }
}

// What a callback was called with: how many, and a sum that says which.
struct Reclaimed {
  uint64_t count = 0;
  uint64_t sum = 0;

  friend bool operator==(const Reclaimed&, const Reclaimed&) = default;
};
struct CountReclaimed {
  Reclaimed* to = nullptr;
  void operator()(const Key& key, const uint64_t& value) const {
    ++to->count;
    to->sum += value * (key.source_port + uint64_t{1});
  }
};

// A table of connections, as the tracker calls it, of whatever kind.
class Tracked {
 public:
  Tracked() = default;
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;
  virtual ~Tracked() = default;
  virtual void insert(const Key& key, uint64_t value, TickCount timeout) = 0;
  virtual bool refresh(const Key& key, TickCount timeout) = 0;
  virtual bool erase(const Key& key) = 0;
  virtual void turn(Tick now, uint64_t buckets) = 0;
  // Which of these keys are live, with what values and times left.
  virtual std::vector<uint64_t> look(std::span<const Key> keys) = 0;
  virtual void settle() = 0;
  [[nodiscard]] virtual uint64_t size() const = 0;
  [[nodiscard]] const Reclaimed& reclaimed() const { return reclaimed_; }

 protected:
  Reclaimed reclaimed_;
};

template <class Tables>
class TrackedIn final : public Tracked {
 public:
  TrackedIn(const Tables& tables, uint64_t entries)
      : table_(tables
                   .template make_timed<Key, uint64_t>(
                       {.capacity = 2 * entries, .entries_max = entries, .hash_seed = 1},
                       CountReclaimed{&reclaimed_})
                   .value()) {}

  void insert(const Key& key, uint64_t value, TickCount timeout) override {
    ASSERT_EQ(table_.insert(key, value, timeout), InsertOutcome::kInserted);
  }
  bool refresh(const Key& key, TickCount timeout) override {
    const uint64_t* found = table_.find(key);
    if (found == nullptr) return false;
    table_.refresh(found, timeout);
    return true;
  }
  bool erase(const Key& key) override {
    // A tracker erases what it has found.
    return table_.find(key) != nullptr && table_.erase(key);
  }
  void turn(Tick now, uint64_t buckets) override {
    table_.advance(now);
    table_.maintain(buckets);
  }
  std::vector<uint64_t> look(std::span<const Key> keys) override {
    std::array<uint64_t*, kIndexLanesMax> found;
    HitArray<kIndexLanesMax> hits;
    std::vector<uint64_t> seen;
    for (; !keys.empty(); keys = keys.subspan(kIndexLanesMax)) {
      table_.find(keys.first(kIndexLanesMax), std::span(found), hits);
      for (size_t lane = 0; lane < kIndexLanesMax; ++lane)
        seen.push_back(hits.test(lane) ? *found[lane] << 16 | table_.ticks_left(found[lane]) : 0);
    }
    return seen;
  }
  void settle() override { table_.maintain(table_.bucket_count()); }
  [[nodiscard]] uint64_t size() const override { return table_.size(); }

 private:
  typename Tables::template Timed<Key, uint64_t, CountReclaimed> table_;
};

// T-10: after each operation, scan, wheel and timers in slots show the same connections; in the end
// each has reclaimed the same.
TEST(Expiries, show_the_same_connections) {
  constexpr uint64_t kKeys = 64;
  constexpr uint64_t kOperations = 1'000'000;
  std::vector<std::pair<std::string, std::unique_ptr<Tracked>>> all;
  all.emplace_back("slot timers", std::make_unique<TrackedIn<conntrack::OwnTables>>(
                                      conntrack::OwnTables{}, kKeys));
  for (const char* store : {"rte_hash", "chained_map", "roost_split"})
    for (const ExpiryKind expiry : {ExpiryKind::kScan, ExpiryKind::kTableScan, ExpiryKind::kWheel})
      all.emplace_back(std::string(store) + " " + std::to_string(static_cast<int>(expiry)),
                       std::make_unique<TrackedIn<RecordTables>>(
                           RecordTables{.kind = store_kind(store), .expiry = expiry}, kKeys));
  std::vector<Key> keys;
  for (uint64_t number = 0; number < kKeys; ++number) keys.push_back(key_of(number));
  traffic::Draw draw(3);
  Tick now{};
  std::vector<uint64_t> expected(kKeys);  // value and time left, by key; 0: it is not live
  uint64_t live_seen = 0;
  for (uint64_t operation = 0; operation < kOperations; ++operation) {
    const Key& key = keys[draw.below(kKeys)];
    const auto timeout = static_cast<TickCount>(1 + draw.below(draw.below(8) == 0 ? 500 : 12));
    const uint64_t kind = draw.below(8);
    const uint64_t steps = draw.below(64) == 0 ? draw.below(300) : draw.below(2);
    const uint64_t buckets = draw.below(3);
    if (kind == 0) now.count += steps;
    std::optional<bool> done;
    const bool was_live = expected[static_cast<size_t>(&key - keys.data())] != 0;
    for (const auto& [name, tracked] : all) {
      bool answer = true;
      if (kind == 0) {
        tracked->turn(now, buckets);
      } else if (kind < 3) {
        if (!was_live) tracked->insert(key, operation + 1, timeout);
      } else if (kind < 7) {
        answer = tracked->refresh(key, timeout);
      } else {
        answer = tracked->erase(key);
      }
      ASSERT_EQ(answer, done.value_or(answer)) << name << ", operation " << operation;
      done = answer;
    }
    expected = all.front().second->look(keys);
    for (const uint64_t one : expected) live_seen += one != 0 ? 1 : 0;
    for (const auto& [name, tracked] : all)
      ASSERT_EQ(tracked->look(keys), expected) << name << ", operation " << operation;
  }
  EXPECT_GT(live_seen, kOperations * kKeys / 10);
  for (const auto& [name, tracked] : all) {
    tracked->turn({now.count + 1'000}, 0);
    tracked->settle();
    EXPECT_EQ(tracked->reclaimed(), all.front().second->reclaimed()) << name;
    EXPECT_EQ(tracked->size(), 0U) << name;
  }
  EXPECT_GT(all.front().second->reclaimed().count, 10'000U);
}

// by last seen, a connection lives for one timeout after each lookup that found it.
TEST(LastSeen, lookups_are_uses) {
  constexpr uint64_t kKeys = 256;
  constexpr TickCount kTimeout = 20;
  constexpr uint64_t kOperations = 1'000'000;
  TrackedIn<LastSeenTables> tracked(LastSeenTables{{}, kTimeout}, kKeys);
  struct Seen {
    uint64_t value = 0;
    uint64_t tick = 0;
  };
  std::unordered_map<uint64_t, Seen> expected;  // by key; of those that were not ended
  uint64_t expired = 0;
  traffic::Draw draw(5);
  Tick now{};
  for (uint64_t operation = 0; operation < kOperations; ++operation) {
    const uint64_t number = draw.below(kKeys);
    const auto known = expected.find(number);
    const bool was_live = known != expected.end() && now.count <= known->second.tick + kTimeout;
    const uint64_t kind = draw.below(16);
    if (kind < 8) {
      ASSERT_EQ(tracked.refresh(key_of(number), 1'000), was_live) << "operation " << operation;
      if (was_live) known->second.tick = now.count;
    } else if (kind < 11 && !was_live) {
      if (known != expected.end()) ++expired;
      tracked.insert(key_of(number), operation + 1, 1'000);
      expected[number] = {operation + 1, now.count};
    } else if (kind == 11) {
      ASSERT_EQ(tracked.erase(key_of(number)), was_live) << "operation " << operation;
      if (was_live) expected.erase(known);
    } else if (draw.below(8) == 0) {
      now.count += draw.below(4);
      tracked.turn(now, draw.below(3));
    }
  }
  tracked.turn({now.count + uint64_t{2} * kTimeout}, 0);
  tracked.settle();
  EXPECT_EQ(tracked.reclaimed().count, expired + expected.size());
  EXPECT_EQ(tracked.size(), 0U);
  EXPECT_GT(expired, 10'000U);
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) {
  return roost::lab::run_tests_with_eal(argc, argv, uint64_t{256} << 20);
}
