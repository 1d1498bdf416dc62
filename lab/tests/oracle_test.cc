// The oracles as contestants, in every shape and with every hint.

#include <gtest/gtest.h>

#include "lab/contestants/line_oracle.h"
#include "lab/tests/contestant_check.h"

namespace roost::lab {
namespace {

template <class Oracle>
class Oracles : public testing::Test {};

using AllOracles = testing::Types<
    LineOracle<TwoLines, PrefetchHint::kT0>, LineOracle<TwoLines, PrefetchHint::kT1>,
    LineOracle<TwoLines, PrefetchHint::kNta>, LineOracle<InlineTwo, PrefetchHint::kT0>,
    LineOracle<InlineTwo, PrefetchHint::kT1>, LineOracle<InlineTwo, PrefetchHint::kNta>,
    LineOracle<InlineThree, PrefetchHint::kT0>, LineOracle<InlineThree, PrefetchHint::kT1>,
    LineOracle<InlineThree, PrefetchHint::kNta>, LineOracle<Packed, PrefetchHint::kT0>,
    LineOracle<Packed, PrefetchHint::kT1>, LineOracle<Packed, PrefetchHint::kNta>>;
TYPED_TEST_SUITE(Oracles, AllOracles);

TYPED_TEST(Oracles, answer_right_wherever_a_key_is) {
  check_contestant<TypeParam>({.bytes_an_entry_max = 51});
}

TYPED_TEST(Oracles, give_every_key_of_a_full_table_a_place_of_its_own) {
  auto made = TypeParam::create(1024, PageKind::kSmall);
  ASSERT_TRUE(made.ok());
  const traffic::KeySource keys(5, sizeof(KeyOf<TypeParam>) == 8 ? 48 : 104);
  const auto key = [&keys](uint64_t index) {
    return traffic::narrowed<KeyOf<TypeParam>>(keys.inserted(index));
  };
  constexpr uint64_t kFirst = 700;  // any run of indices will do
  for (uint64_t index = kFirst; index < kFirst + 1024; ++index)
    ASSERT_TRUE(made.value().insert(key(index), value_of<ValueOf<TypeParam>>(key(index))));
  for (uint64_t index = kFirst; index < kFirst + 1024; ++index) {
    const auto query = key(index);
    EXPECT_EQ(first_wrong_answer(made.value(), std::span(&query, 1), 1), std::nullopt);
  }
}

TYPED_TEST(Oracles, are_sized_like_the_table_and_nothing_else) {
  auto made = TypeParam::create(1 << 16, PageKind::kSmall);
  ASSERT_TRUE(made.ok());
  const FewestLines lines = made.value().fewest_lines();
  if (lines.second_bytes != 0) {
    EXPECT_EQ(lines, (FewestLines{.first_bytes = 8 << 16, .second_bytes = 32 << 16}));
  } else {
    const size_t value_bytes = sizeof(ValueOf<TypeParam>);
    const uint64_t slots_a_line = value_bytes == 16 ? 2 : value_bytes == 4 ? 3 : 8;
    EXPECT_EQ(lines.first_bytes, ((1 << 16) + slots_a_line - 1) / slots_a_line * 64);
  }
}

TYPED_TEST(Oracles, refuse_a_capacity_that_is_no_power_of_two) {
  EXPECT_FALSE(TypeParam::create(1000, PageKind::kSmall).ok());
}

}  // namespace
}  // namespace roost::lab
