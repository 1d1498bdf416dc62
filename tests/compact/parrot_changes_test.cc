// Parrot tables as they change: the paper's examples, the traps of its policy, a model, scans.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "roost/base/hit_words.h"
#include "roost/compact/parrot_builder.h"
#include "tests/base/step_count.h"
#include "tests/compact/key_sets.h"

namespace roost::compact {
namespace {

constexpr ModelChoice kOneLine{ModelKind::kRmi, 1};

std::optional<uint32_t> ask(const ParrotBuilder& table, uint64_t key) {
  uint32_t value = 0;
  HitArray<1> maybe;
  const size_t found = reader_of(table).lookup_unverified(std::span<const uint64_t>(&key, 1),
                                                          std::span(&value, 1), maybe);
  return found == 1 ? std::optional(value) : std::nullopt;
}
std::vector<uint64_t> stash_of(const ParrotBuilder& table, uint64_t bucket) {
  const ParrotReader reader = reader_of(table);
  const StashWord stash = reader.bucket(bucket).stash();
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < stash.count(); ++i)
    keys.push_back(reader.stash_entry(stash.first() + i).key);
  return keys;
}

// Six keys in one bucket; the first four have its slots.
ParrotBuilder one_bucket() {
  auto table =
      ParrotBuilder::build({.load = 1, .growth = 100, .model = kOneLine},
                           {{1, 10}, {4, 40}, {6, 60}, {8, 8}, {12, 1}, {16, 6}, {1'000'000, 9}});
  EXPECT_TRUE(table) << table.error().message;
  return std::move(table).value();
}

// The paper's figure 5: {15, 6} comes between {12, 1} and {16, 6}; {8, 17} becomes the first entry
// and shadows the value that the slot has (PAR-08, X-104).
TEST(ParrotChanges, f5_inserts_and_updates_go_to_the_stash_in_order) {
  ParrotBuilder table = one_bucket();
  EXPECT_EQ(stash_of(table, 0), (std::vector<uint64_t>{12, 16}));
  EXPECT_EQ(table.insert(15, 6), ChangeOutcome::kDone);
  EXPECT_EQ(stash_of(table, 0), (std::vector<uint64_t>{12, 15, 16}));
  EXPECT_EQ(table.update(8, 17), ChangeOutcome::kDone);
  EXPECT_EQ(stash_of(table, 0), (std::vector<uint64_t>{8, 12, 15, 16}));
  EXPECT_EQ(ask(table, 8), 17U);
  EXPECT_EQ(ask(table, 15), 6U);
  EXPECT_EQ(ask(table, 12), 1U);
  // Another one overwrites the entry.
  EXPECT_EQ(table.update(8, 18), ChangeOutcome::kDone);
  EXPECT_EQ(stash_of(table, 0).size(), 4U);
  EXPECT_EQ(ask(table, 8), 18U);
  EXPECT_EQ(table.audit(), std::nullopt);
}

// the old value does not come back, and nobody's slot goes with a key that is not there.
TEST(ParrotChanges, x105_what_is_erased_stays_away_and_others_stay) {
  ParrotBuilder table = one_bucket();
  EXPECT_EQ(table.update(8, 17), ChangeOutcome::kDone);
  EXPECT_EQ(table.erase(8), ChangeOutcome::kDone);
  EXPECT_EQ(ask(table, 8), std::nullopt);
  EXPECT_EQ(table.find(8), std::nullopt);
  for (const uint64_t stranger : {2U, 3U, 5U, 7U, 9U, 10U, 11U, 13U})
    EXPECT_EQ(table.erase(stranger), ChangeOutcome::kNotFound);
  EXPECT_EQ(table.update(2, 1), ChangeOutcome::kNotFound);
  for (const auto& [key, value] : {std::pair{1U, 10U}, {4, 40}, {6, 60}, {12, 1}, {16, 6}})
    EXPECT_EQ(ask(table, key), value) << key;
  EXPECT_EQ(table.erase(8), ChangeOutcome::kNotFound);
  EXPECT_EQ(table.size(), 6U);
  EXPECT_EQ(table.audit(), std::nullopt);
}

// once a smaller key is the stash's first one, keys of slots lie behind it.
TEST(ParrotChanges, x103_a_stash_that_begins_below_the_slots_hides_nothing) {
  ParrotBuilder table = one_bucket();
  EXPECT_EQ(table.insert(0, 5), ChangeOutcome::kDone);
  EXPECT_EQ(table.insert(5, 50), ChangeOutcome::kDone);
  EXPECT_EQ(stash_of(table, 0), (std::vector<uint64_t>{0, 5, 12, 16}));
  for (const auto& [key, value] :
       {std::pair{0U, 5U}, {1, 10}, {4, 40}, {5, 50}, {6, 60}, {8, 8}, {12, 1}, {16, 6}})
    EXPECT_EQ(ask(table, key), value) << key;
  // A stranger gets a slot's value, or none; the walk ends.
  for (uint64_t stranger = 17; stranger < 100; ++stranger) static_cast<void>(ask(table, stranger));
}

TEST(ParrotChanges, changes_that_cannot_be_are_refused_by_cause) {
  ParrotBuilder table = one_bucket();
  EXPECT_EQ(table.insert(8, 3), ChangeOutcome::kThere);
  EXPECT_EQ(ask(table, 8), 8U);
  EXPECT_EQ(table.insert(uint64_t{1} << 48, 3), ChangeOutcome::kTooWide);
  EXPECT_EQ(table.insert(9, 65'535), ChangeOutcome::kTooWide);
  EXPECT_EQ(table.update(8, 65'535), ChangeOutcome::kTooWide);
  // 14 more, and a lookup would look at a seventeenth.
  for (uint64_t key = 20; key < 34; ++key) EXPECT_EQ(table.insert(key, 1), ChangeOutcome::kDone);
  EXPECT_EQ(table.insert(34, 1), ChangeOutcome::kBucketFull);
  EXPECT_EQ(table.find(34), std::nullopt);
  EXPECT_EQ(table.audit(), std::nullopt);
  // There is room of another kind, too.
  auto small = ParrotBuilder::build({.load = 1, .growth = 1}, entries_of(dense_keys(4'000)));
  ASSERT_TRUE(small);
  EXPECT_EQ(small.value().insert(1, 1), ChangeOutcome::kNoRoom);
  EXPECT_EQ(small.value().audit(), std::nullopt);
}

TEST(ParrotChanges, reseeding_uses_slots_that_are_free) {
  auto table = ParrotBuilder::build({.load = 0.5, .policy = InsertionPolicy::kReseed},
                                    entries_of(dense_keys(100'000)));
  ASSERT_TRUE(table) << table.error().message;
  const uint64_t stashed = table.value().report().stashed;
  uint64_t seen = 0;
  for (const ParrotEntry& entry : entries_of(dense_keys(100'000))) {
    ASSERT_EQ(table.value().update(entry.key, 7), ChangeOutcome::kDone);
    if (ask(table.value(), entry.key) == 7U) ++seen;
  }
  EXPECT_EQ(seen, 100'000U);
  EXPECT_EQ(table.value().report().stashed, stashed);
  EXPECT_EQ(table.value().audit(), std::nullopt);
}

// What any sequence of changes leaves is what a map has.
class AgainstMap : public testing::TestWithParam<InsertionPolicy> {};

TEST_P(AgainstMap, random_changes) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    traffic::Draw draw(seed);
    const auto keys = seed % 2 == 0 ? random_keys(2'000, seed) : vendor_keys(2'000, seed);
    const uint32_t fingerprint_bits = seed % 3 == 0 ? 8 : 0;
    auto made = ParrotBuilder::build({.fingerprint_bits = fingerprint_bits,
                                      .keeps_keys = seed % 4 == 0,
                                      .growth = 1.5,
                                      .policy = GetParam()},
                                     entries_of(keys));
    ASSERT_TRUE(made) << made.error().message;
    ParrotBuilder table = std::move(made).value();
    std::map<uint64_t, uint32_t> model;
    for (const ParrotEntry& entry : entries_of(keys)) model[entry.key] = entry.value;
    uint64_t refused = 0;
    for (uint64_t step = 0; step < step_count(30'000); ++step) {
      const uint64_t near = keys[draw.below(keys.size())] + draw.below(4);
      const uint64_t key = std::min(draw.below(8) == 0 ? draw.word() & kMac : near, kMac);
      const auto value = static_cast<uint32_t>(draw.below(65'535));
      const bool is_there = model.contains(key);
      ChangeOutcome outcome = ChangeOutcome::kDone;
      switch (draw.below(4)) {
        case 0:
          outcome = table.insert(key, value);
          ASSERT_EQ(outcome == ChangeOutcome::kThere, is_there);
          if (outcome == ChangeOutcome::kDone) model[key] = value;
          break;
        case 1:
          outcome = table.erase(key);
          ASSERT_EQ(outcome == ChangeOutcome::kDone, is_there);
          model.erase(key);
          break;
        default:
          outcome = table.update(key, value);
          ASSERT_EQ(outcome == ChangeOutcome::kNotFound, !is_there);
          if (outcome == ChangeOutcome::kDone) model[key] = value;
      }
      refused += outcome == ChangeOutcome::kNoRoom || outcome == ChangeOutcome::kBucketFull;
      ASSERT_EQ(table.size(), model.size());
      if (step % 1'000 == 0) {
        ASSERT_EQ(table.audit(), std::nullopt) << step;
      }
      if (outcome != ChangeOutcome::kNoRoom) continue;
      auto anew = table.rebuilt();
      ASSERT_TRUE(anew) << anew.error().message;
      table = std::move(anew).value();
    }
    EXPECT_LT(refused, step_count(30'000) / 3);
    ASSERT_EQ(table.audit(), std::nullopt);
    for (const auto& [key, value] : model) {
      ASSERT_EQ(ask(table, key), value) << key;
      ASSERT_EQ(table.find(key), value) << key;
    }
    const std::vector<ParrotEntry> all = table.entries();
    ASSERT_EQ(all.size(), model.size());
    for (size_t i = 1; i < all.size(); ++i) ASSERT_LT(all[i - 1].key, all[i].key);
  }
}

INSTANTIATE_TEST_SUITE_P(Parrot, AgainstMap,
                         testing::Values(InsertionPolicy::kStash, InsertionPolicy::kReseed));

// a scan brings all that it should; what it brings beside that is little, and is found out
// by whoever has the keys. Values are numbers of items here.
TEST(ParrotScans, x109_bring_every_key_of_the_range_and_few_others) {
  const auto keys = random_keys(20'000, 20);
  std::vector<ParrotEntry> items;
  for (uint32_t i = 0; i < keys.size(); ++i) items.push_back({keys[i], i});
  auto made = ParrotBuilder::build({.value_bits = 32}, items);
  ASSERT_TRUE(made);
  const ParrotReader reader = reader_of(made.value());
  traffic::Draw draw(21);
  for (int i = 0; i < 2'000; ++i) {
    const size_t first = draw.below(keys.size());
    const size_t past = std::min(first + draw.below(200), keys.size() - 1);
    std::vector<uint64_t> found;
    size_t others = 0;
    reader.scan(keys[first], keys[past], [&](uint32_t item, std::optional<uint64_t> key) {
      EXPECT_TRUE(!key || *key == keys[item]);
      const bool is_wanted = item >= first && item <= past;
      if (is_wanted) found.push_back(keys[item]);
      others += is_wanted ? 0 : 1;
      return true;
    });
    ASSERT_EQ(distinct(found).size(), past - first + 1);
    EXPECT_LE(others, 8U);
  }
}

TEST(ParrotScans, by_length_go_on_until_enough_was_found) {
  ParrotBuilder table = one_bucket();
  EXPECT_EQ(table.update(8, 17), ChangeOutcome::kDone);
  std::vector<uint32_t> values;
  reader_of(table).scan_from(6, [&](uint32_t value, std::optional<uint64_t>) {
    values.push_back(value);
    return values.size() < 7;
  });
  // Four slots, the shadowed value among them, and the first entries of the stash.
  ASSERT_EQ(values.size(), 7U);
  EXPECT_EQ(std::vector<uint32_t>(values.begin() + 4, values.end()),
            (std::vector<uint32_t>{17, 1, 6}));
  EXPECT_EQ(std::ranges::count(values, 8U), 1);
}

}  // namespace
}  // namespace roost::compact
