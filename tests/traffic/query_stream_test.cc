// Streams: an exact share of misses at random positions, hits where they are wanted.
#include "roost/traffic/query_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>

namespace roost::traffic {
namespace {

std::vector<Key128> half_missing(uint64_t seed) {
  return query_stream(KeySource(seed),
                      {.entry_count = 1000, .query_count = 1001, .miss_ratio = 0.5});
}

TEST(QueryStream, it_has_its_share_of_misses_at_mixed_positions) {
  const std::vector<Key128> stream = half_missing(7);
  const auto misses_to = [&stream](size_t past) {
    return std::count_if(stream.begin(), stream.begin() + static_cast<ptrdiff_t>(past),
                         [](const Key128& key) { return !is_inserted_key(key); });
  };
  EXPECT_EQ(misses_to(1001), 501);
  EXPECT_GT(misses_to(500), 200);
  EXPECT_LT(misses_to(500), 300);
}

TEST(QueryStream, a_seed_gives_the_same_stream_again_and_another_seed_another) {
  EXPECT_EQ(half_missing(7), half_missing(7));
  EXPECT_NE(half_missing(7), half_missing(8));
}

TEST(QueryStream, hits_are_drawn_from_the_entries_named_and_no_others) {
  const KeySource keys(7);
  std::set<std::array<uint64_t, 2>> entries;
  for (uint64_t index = 100; index < 120; ++index) entries.insert(keys.inserted(index).words);
  std::set<std::array<uint64_t, 2>> seen;
  for (const Key128& key : query_stream(
           keys, {.first_entry = 100, .entry_count = 20, .query_count = 1000, .miss_ratio = 0}))
    seen.insert(key.words);
  EXPECT_EQ(seen, entries);
}

TEST(QueryStream, zipf_hits_prefer_the_first_entries) {
  const KeySource keys(7);
  std::map<std::array<uint64_t, 2>, int> times;
  for (const Key128& key : query_stream(
           keys,
           {.entry_count = 1000, .query_count = 10'000, .miss_ratio = 0.2, .zipf_exponent = 1}))
    ++times[key.words];
  const int first = times[keys.inserted(0).words];
  EXPECT_NEAR(first, 8000 / 7.485, 150);  // the thousandth harmonic number
  EXPECT_NEAR(times[keys.inserted(1).words], first / 2.0, 80);
  EXPECT_EQ(times.count(keys.inserted(1000).words), 0U);
}

}  // namespace
}  // namespace roost::traffic
