// Our tables as contestants: every policy, the C interface, and keys of 13 bytes.

#include <gtest/gtest.h>

#include "lab/contestants/roost_c_table.h"
#include "lab/contestants/roost_flow_table.h"
#include "lab/contestants/roost_shared_table.h"
#include "lab/tests/contestant_check.h"
#include "roost/isa/isa.h"

namespace roost::lab {
namespace {

template <class Table>
class RoostTables : public testing::Test {};

using AllTables =
    testing::Types<RoostFlowTable, RoostTable<FilteredProbing, SlotTimers>,
                   RoostTable<HortonProbing>, RoostCTable, RoostInline2<>, RoostInline3<>,
                   RoostInline2<SlotTimers>, RoostInline3<SlotTimers>, RoostPacked,
                   RoostPackedShared, RoostFlowTableShared, RoostInline2Shared>;
TYPED_TEST_SUITE(RoostTables, AllTables);

TYPED_TEST(RoostTables, hold_what_they_are_given_and_nothing_else) {
  check_contestant<TypeParam>({.bytes_an_entry_max = 52});
}

TEST(RoostTable, has_small_entries_inside_its_lines_and_says_so) {
  EXPECT_EQ(RoostInline2<>::kName, "roost_inline_2");
  EXPECT_EQ(RoostInline3<SlotTimers>::kName, "roost_inline_3_timers");
  EXPECT_EQ(RoostFlowTable::kName, "roost_flow_table");
  const auto table = RoostInline3<>::create(uint64_t{3} * 1024, PageKind::kSmall);
  ASSERT_TRUE(table);
  EXPECT_EQ(table.value().fewest_lines(), (FewestLines{uint64_t{1024} * 64, 0}));
}

TEST(RoostTable, packs_keys_and_values_of_a_mac_table_into_words) {
  EXPECT_EQ(RoostPacked::kName, "roost_packed");
  const auto table = RoostPacked::create(uint64_t{8} * 1024, PageKind::kSmall);
  ASSERT_TRUE(table);
  EXPECT_EQ(table.value().fewest_lines(), (FewestLines{uint64_t{1024} * 64, 0}));
}

TEST(RoostTable, tells_the_hint_that_its_table_has) {
  const auto hint = [](uint64_t slots) {
    return RoostFlowTable::create(slots, PageKind::kSmall).value().line_hint();
  };
  EXPECT_EQ(hint(uint64_t{6} << 17), "T0");  // 6 MiB of lines
  EXPECT_EQ(hint((uint64_t{6} << 17) + 16), "T1");
}

TEST(RoostTable, runs_on_the_kernel_it_was_told) {
  for (const Isa isa : {Isa::kScalar, Isa::kSse42, Isa::kAvx2}) {
    auto made = RoostFlowTable::create(kCheckedSlots, PageKind::kSmall, isa);
    if (!isa_is_supported(isa)) {
      EXPECT_FALSE(made);
      continue;
    }
    ASSERT_TRUE(made);
    EXPECT_EQ(made.value().isa(), isa);
  }
}

}  // namespace
}  // namespace roost::lab
