// Hit words and results, and what misuse of them does.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "roost/base/hit_words.h"
#include "roost/base/result.h"

namespace roost {
namespace {

TEST(HitWords, set_and_test_lanes_across_words) {
  std::array<uint64_t, 3> words{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
  HitWords hits(words);
  hits.clear(65);
  EXPECT_EQ(words, (std::array<uint64_t, 3>{0, 0, ~uint64_t{0}})) << "two words hold 65 lanes";
  hits.set(0);
  hits.set(64);
  EXPECT_TRUE(hits.test(0) && hits.test(64));
  EXPECT_FALSE(hits.test(1) || hits.test(63));
  EXPECT_EQ(hits.count(65), 2U);
}

TEST(HitWords, groups_of_32_lanes_overwrite_what_was_there) {
  std::array<uint64_t, 2> words{~uint64_t{0}, ~uint64_t{0}};
  HitWords hits(words);
  hits.write_group(0, 0x8000'0001);
  EXPECT_EQ(words[0], 0x8000'0001U);
  hits.write_group(32, 2);
  EXPECT_EQ(words[0], 0x2'8000'0001U);
  EXPECT_EQ(words[1], ~uint64_t{0});
}

TEST(HitWordsDeathTest, too_few_words_break_an_invariant) {
  std::array<uint64_t, 1> words{};
  EXPECT_DEATH(HitWords(words).clear(65), "broken invariant");
}

TEST(Result, holds_a_value_or_the_reason_why_not) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*std::move(result).value(), 3);
  const Result<int> failed = Error{"no such thing; try another"};
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no such thing; try another");
}

TEST(ResultDeathTest, the_value_of_an_error_is_not_to_be_had) {
  Result<int> failed = Error{"no"};
  EXPECT_DEATH(static_cast<void>(failed.value()), "broken invariant");
}

}  // namespace
}  // namespace roost
