// Our tables as contestants: every policy, the C interface, and keys of 13 bytes.

#include <gtest/gtest.h>

#include "lab/contestants/roost_c_table.h"
#include "lab/contestants/roost_flow_table.h"
#include "lab/tests/contestant_check.h"

namespace roost::lab {
namespace {

template <class Table>
class RoostTables : public testing::Test {};

using AllTables = testing::Types<
    RoostFlowTable, RoostTable<FilteredProbing, SlotTimers>, RoostTable<HortonProbing>, RoostCTable,
    RoostTable<FilteredProbing, NoExpiry, NoCounts, traffic::Key104, Value>,
    RoostTable<FilteredProbing, NoExpiry, NoCounts, traffic::Key104, traffic::Value32>>;
TYPED_TEST_SUITE(RoostTables, AllTables);

TYPED_TEST(RoostTables, hold_what_they_are_given_and_nothing_else) {
  check_contestant<TypeParam>({.bytes_an_entry_max = 52});
}

}  // namespace
}  // namespace roost::lab
