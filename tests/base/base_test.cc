// Hit words, results and file descriptors, and what misuse of them does.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "roost/base/counter.h"
#include "roost/base/file_descriptor.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"

namespace roost {
namespace {

struct Counts {
  uint64_t apples = 0;
  uint64_t pears = 0;
};
constexpr Counter kApples{"apples", &Counts::apples, "what fell from apple trees"};
constexpr Counter kPears{"pears", &Counts::pears, "what fell from pear trees"};
constexpr std::array kCounts = {kApples, kPears};

TEST(Counter, a_list_names_every_member_once) {
  static_assert(lists_all(kCounts));
  static_assert(!lists_all(std::array{kApples}), "a member is missing");
  static_assert(!lists_all(std::array{kApples, kPears, kApples}));
  static_assert(!lists_all(std::array{kApples, Counter{"pears", &Counts::apples, "apples"}}));
  static_assert(!lists_all(std::array{kApples, Counter{"apples", &Counts::pears, "pears"}}));
  EXPECT_EQ(counter_of(kCounts, &Counts::pears).name, "pears");
}

TEST(Counter, all_of_a_list_are_added) {
  Counts sum{3, 40};
  add_counters<Counts>(kCounts, {.apples = 20, .pears = 500}, sum);
  EXPECT_EQ(sum.apples, 23U);
  EXPECT_EQ(sum.pears, 540U);
  EXPECT_EQ(sum_of<Counts>(kCounts, sum), 563U);
}

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

TEST(ResultDeathTest, the_value_of_an_error_cannot_be_taken) {
  Result<int> failed = Error{"no"};
  EXPECT_DEATH(static_cast<void>(failed.value()), "broken invariant");
}

TEST(FileDescriptor, its_last_owner_closes_it) {
  const auto is_open = [](int number) { return fcntl(number, F_GETFD) != -1; };
  int number = -1;
  {
    std::optional<FileDescriptor> first(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = first->number();
    const FileDescriptor second = std::move(*first);
    EXPECT_EQ(second.number(), number);
    first.reset();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

}  // namespace
}  // namespace roost
