// Ranges as prefixes: the longest one leads where the range does, and there are no more than
// needed.
#include "targets/switch/prefixes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "roost/compact/model_builder.h"
#include "roost/traffic/draw.h"
#include "tests/base/step_count.h"
#include "tests/targets/switch_sets.h"

namespace roost::targets {
namespace {

std::vector<Range> ranges_of(const std::vector<uint64_t>& cuts) {
  std::vector<Range> ranges = {{.first = 0, .bucket = 0}};
  for (const uint64_t cut : cuts)
    ranges.push_back({.first = cut, .bucket = static_cast<uint32_t>(ranges.size())});
  return ranges;
}

TEST(Prefixes, of_ranges_by_hand) {
  using Entries = std::vector<RangeEntry>;
  EXPECT_EQ(longest_prefixes(ranges_of({})), (Entries{{{0, 48}, 0}}));
  // One half each; the left one may come from outside.
  const uint64_t half = uint64_t{1} << 47;
  EXPECT_EQ(longest_prefixes(ranges_of({half})), (Entries{{{0, 48}, 0}, {{half, 47}, 1}}));
  // 0 to 5 and the rest: the rest is everywhere, but in 0 to 3 and in 4 and 5.
  EXPECT_EQ(longest_prefixes(ranges_of({6})), (Entries{{{0, 48}, 1}, {{0, 3}, 0}, {{6, 1}, 1}}));
  EXPECT_EQ((Prefix{6, 1}.mask()), kSwitchKeyMask - 1);
  EXPECT_EQ((Prefix{6, 1}.length()), 47U);
}

TEST(Prefixes, lead_where_the_ranges_do) {
  traffic::Draw draw(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<uint64_t> cuts;
    const auto bits = static_cast<unsigned>(2 + draw.below(47));
    for (uint64_t count = draw.below(40); count > 0; --count)
      cuts.push_back(1 + (draw.word() & ((uint64_t{1} << bits) - 2)));
    const auto ranges = ranges_of(compact::distinct(std::move(cuts)));
    const LongestPrefixes prefixes(longest_prefixes(ranges));
    for (size_t k = 0; k < ranges.size(); ++k) {
      const uint64_t last = k + 1 < ranges.size() ? ranges[k + 1].first - 1 : kSwitchKeyMask;
      for (const uint64_t number :
           {ranges[k].first, last, ranges[k].first + (last - ranges[k].first) / 2})
        ASSERT_EQ(prefixes.bucket_of(number), ranges[k].bucket) << number;
    }
  }
}

// The fewest entries for the numbers below `count`, by trying all: what a half costs, by the bucket
// that it gets from outside.
class AllTables {
 public:
  AllTables(const std::vector<uint32_t>& bucket_of, uint32_t buckets)
      : bucket_of_(bucket_of), none_(buckets) {}

  [[nodiscard]] size_t fewest() { return fewest(0, bucket_of_.size(), none_); }

 private:
  size_t fewest(size_t first, size_t count, uint32_t outer) {
    const auto half = std::pair(std::pair(first, count), outer);
    if (const auto known = known_.find(half); known != known_.end()) return known->second;
    size_t best = kImpossible;
    for (uint32_t own = 0; own <= none_; ++own) {  // none_: it has no entry of its own
      const uint32_t inside = own == none_ ? outer : own;
      const size_t entry = own == none_ ? 0 : 1;
      if (count == 1) {
        if (inside == bucket_of_[first]) best = std::min(best, entry);
      } else {
        best = std::min(best, entry + fewest(first, count / 2, inside) +
                                  fewest(first + count / 2, count / 2, inside));
      }
    }
    return known_[half] = best;
  }

  static constexpr size_t kImpossible = 1'000'000;
  const std::vector<uint32_t>& bucket_of_;
  uint32_t none_;
  std::map<std::pair<std::pair<size_t, size_t>, uint32_t>, size_t> known_;
};

// Of the numbers from 128 on, which have the last bucket, no table needs to know.
TEST(Prefixes, are_the_fewest) {
  traffic::Draw draw(2);
  for (int i = 0; i < static_cast<int>(step_count(200)); ++i) {
    std::vector<uint64_t> cuts;
    for (uint64_t count = 1 + draw.below(7); count > 0; --count) cuts.push_back(1 + draw.below(62));
    cuts = compact::distinct(std::move(cuts));
    std::vector<uint32_t> bucket_of(128);
    for (uint64_t number = 0; number < bucket_of.size(); ++number) {
      bucket_of[number] =
          static_cast<uint32_t>(std::ranges::upper_bound(cuts, number) - cuts.begin());
    }
    EXPECT_EQ(longest_prefixes(ranges_of(cuts)).size(),
              AllTables(bucket_of, static_cast<uint32_t>(cuts.size() + 1)).fewest());
  }
}

// Of all places where three buckets may begin, cut_between() needs the fewest entries.
TEST(Prefixes, are_the_fewest_of_all_cuts) {
  traffic::Draw draw(3);
  for (int i = 0; i < static_cast<int>(step_count(100)); ++i) {
    std::array<uint64_t, 6> keys{};
    keys[0] = draw.below(20);
    for (size_t k = 1; k < keys.size(); ++k) keys[k] = keys[k - 1] + 1 + draw.below(12);
    const auto count = [](uint64_t first, uint64_t second, uint64_t third) {
      return longest_prefixes(ranges_of({first, second, third})).size();
    };
    size_t best = SIZE_MAX;
    for (uint64_t first = keys[0] + 1; first <= keys[1]; ++first)
      for (uint64_t second = keys[2] + 1; second <= keys[3]; ++second)
        for (uint64_t third = keys[4] + 1; third <= keys[5]; ++third)
          best = std::min(best, count(first, second, third));
    EXPECT_EQ(count(compact::cut_between(keys[0], keys[1]), compact::cut_between(keys[2], keys[3]),
                    compact::cut_between(keys[4], keys[5])),
              best);
  }
}

}  // namespace
}  // namespace roost::targets
