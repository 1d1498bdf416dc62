// Line maps as they change: against a model, and for long.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "roost/base/hit_words.h"
#include "tests/base/step_count.h"
#include "tests/compact/key_sets.h"
#include "tests/compact/line_maps.h"

namespace roost::compact {
namespace {

// What any sequence of changes leaves is what a map has.
TEST(LineMap, random_changes) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    traffic::Draw draw(seed);
    const auto keys = random_keys(2'000, seed);
    Map map = map_of({.fingerprint_bits = seed % 2 == 0 ? 8U : 0U,
                      .load = seed % 3 == 0 ? 0.95 : 0.85,
                      .hash_seed = seed},
                     keys);
    std::map<uint64_t, uint32_t> model;
    for (const uint64_t key : keys) model[key] = value_of(key);
    uint64_t rebuilt = 0;
    for (uint64_t step = 0; step < step_count(30'000); ++step) {
      const uint64_t key = draw.below(3) == 0 ? draw.word() & kMac : keys[draw.below(keys.size())];
      const auto value = static_cast<uint32_t>(draw.below(65'535));
      const bool is_there = model.contains(key);
      ChangeOutcome outcome = ChangeOutcome::kDone;
      switch (draw.below(4)) {
        case 0:
          outcome = map.erase(key);
          ASSERT_EQ(outcome == ChangeOutcome::kDone, is_there);
          model.erase(key);
          break;
        case 1:
          outcome = map.update(key, value);
          ASSERT_EQ(outcome == ChangeOutcome::kNotFound, !is_there);
          if (is_there) model[key] = value;
          break;
        default:
          outcome = map.insert(key, value);
          ASSERT_EQ(outcome == ChangeOutcome::kThere, is_there);
          if (outcome == ChangeOutcome::kDone) model[key] = value;
      }
      ASSERT_EQ(map.size(), model.size());
      if (step % 1'000 == 0) {
        ASSERT_EQ(map.audit(), std::nullopt) << step;
      }
      if (outcome != ChangeOutcome::kNoRoom) continue;
      ASSERT_EQ(map.audit(), std::nullopt) << step;
      auto anew = map.rebuilt();
      ASSERT_TRUE(anew) << anew.error().message;
      map = std::move(anew).value();
      ++rebuilt;
    }
    EXPECT_LT(rebuilt, 50U);  // a map that grows to twice its size
    ASSERT_EQ(map.audit(), std::nullopt);
    const auto reader = map_reader(map);
    for (const auto& [key, value] : model) {
      uint32_t got = 0;
      HitArray<1> maybe;
      ASSERT_EQ(
          reader.lookup_unverified(std::span<const uint64_t>(&key, 1), std::span(&got, 1), maybe),
          1U);
      ASSERT_EQ(got, value) << key;
    }
  }
}

// Keys that come beyond the load have room for a while, and a map whose keys come and go has room
// for ever: groups come back.
TEST(LineMap, has_room_for_some_growth_and_for_churn) {
  for (int run = 0; run < 4; ++run) {
    const size_t count = step_count(run < 2 ? 200'000 : 20'000);
    const size_t turns = run < 2 ? 2 : 10;
    const double load = run % 2 == 0 ? 0.85 : 0.95;
    SCOPED_TRACE(testing::Message() << "load " << load << ", hash " << run);
    auto keys = random_keys(2 * count, 10);
    std::shuffle(keys.begin(), keys.end(), std::mt19937_64(11));
    Map map = map_of({.load = load, .hash_seed = static_cast<uint64_t>(run)},
                     {keys.begin(), keys.begin() + static_cast<ptrdiff_t>(count)});
    size_t end = count;
    for (; end < count + count / 50; ++end)
      ASSERT_EQ(map.insert(keys[end], 1), ChangeOutcome::kDone) << end;
    traffic::Draw draw(12);
    const auto erase_one = [&](size_t live) {
      const size_t victim = draw.below(live);
      ASSERT_EQ(map.erase(keys[victim]), ChangeOutcome::kDone);
      std::swap(keys[victim], keys[live - 1]);
    };
    while (end > count) erase_one(end--);
    for (size_t step = 0; step < turns * count; ++step) {
      erase_one(count);
      std::swap(keys[count - 1], keys[count + draw.below(keys.size() - count)]);
      ASSERT_EQ(map.insert(keys[count - 1], 2), ChangeOutcome::kDone) << step;
    }
    EXPECT_EQ(map.audit(), std::nullopt);
    EXPECT_LT(map.report().keys_by_level[1], count / 10);
  }
}

}  // namespace
}  // namespace roost::compact
