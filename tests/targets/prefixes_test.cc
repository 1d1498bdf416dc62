// Ranges as prefixes: the same numbers, and no more prefixes than needed.
#include "targets/switch/prefixes.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "roost/compact/model_builder.h"
#include "roost/traffic/draw.h"

namespace roost::targets {
namespace {

// Whether they are the numbers from first to last, each once and rising.
void expect_range(const std::vector<Prefix>& prefixes, uint64_t first, uint64_t last) {
  uint64_t next = first;
  for (const Prefix& prefix : prefixes) {
    ASSERT_EQ(prefix.first, next);
    ASSERT_EQ(prefix.first & ~prefix.mask() & kSwitchKeyMask, 0U);
    next = prefix.last() + 1;
  }
  ASSERT_EQ(next, last + 1);
}

TEST(Prefixes, are_the_range) {
  EXPECT_EQ(prefixes_of(0, kSwitchKeyMask), (std::vector<Prefix>{{0, 48}}));
  EXPECT_EQ(prefixes_of(7, 7), (std::vector<Prefix>{{7, 0}}));
  EXPECT_EQ(prefixes_of(6, 13), (std::vector<Prefix>{{6, 1}, {8, 2}, {12, 1}}));
  EXPECT_EQ((Prefix{6, 1}.mask()), kSwitchKeyMask - 1);
  EXPECT_EQ((Prefix{6, 1}.length()), 47U);
  EXPECT_EQ(prefixes_of(1, kSwitchKeyMask - 1).size(), 94U);
  traffic::Draw draw(1);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t first = draw.word() & kSwitchKeyMask;
    const uint64_t last =
        first + (draw.word() >> (16 + draw.below(40))) % (kSwitchKeyMask - first + 1);
    expect_range(prefixes_of(first, last), first, last);
  }
}

// The fewest that a partition of the numbers below 2^bits takes, by trying all: how many blocks of
// the tree of halves are needed so that each is within one part.
size_t fewest(const std::vector<int>& parts, size_t first, size_t count) {
  bool is_one = true;
  for (size_t i = first; i < first + count; ++i) is_one &= parts[i] == parts[first];
  return is_one ? 1 : fewest(parts, first, count / 2) + fewest(parts, first + count / 2, count / 2);
}

TEST(Prefixes, are_the_fewest) {
  traffic::Draw draw(2);
  for (int i = 0; i < 2'000; ++i) {
    const uint64_t first = draw.below(256);
    const uint64_t last = first + draw.below(256 - first);
    std::vector<int> parts(256, 0);
    for (uint64_t at = first; at <= last; ++at) parts[at] = 1;
    const size_t before = first == 0 ? 0 : prefixes_of(0, first - 1).size();
    const size_t behind = last == 255 ? 0 : prefixes_of(last + 1, 255).size();
    // The numbers on both sides may share no block with it.
    for (uint64_t at = last + 1; at < 256; ++at) parts[at] = 2;
    EXPECT_EQ(before + prefixes_of(first, last).size() + behind, fewest(parts, 0, 256));
  }
}

// Of all places where the second of three buckets may begin and end, cut_between() is the best.
TEST(Prefixes, are_the_fewest_of_all_cuts) {
  traffic::Draw draw(3);
  for (int i = 0; i < 300; ++i) {
    uint64_t keys[4];
    keys[0] = draw.below(20);
    for (int k = 1; k < 4; ++k) keys[k] = keys[k - 1] + 1 + draw.below(40);
    const auto count = [](uint64_t first, uint64_t second) {
      return prefixes_of(0, first - 1).size() + prefixes_of(first, second - 1).size() +
             prefixes_of(second, 255).size();
    };
    size_t best = SIZE_MAX;
    for (uint64_t first = keys[0] + 1; first <= keys[1]; ++first)
      for (uint64_t second = keys[2] + 1; second <= keys[3]; ++second)
        best = std::min(best, count(first, second));
    EXPECT_EQ(count(compact::cut_between(keys[0], keys[1]), compact::cut_between(keys[2], keys[3])),
              best);
  }
}

}  // namespace
}  // namespace roost::targets
