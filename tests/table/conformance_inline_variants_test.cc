// The contract in inline tables: what conformance_inline_test.cc leaves out, and those without a
// filter.
#include "tests/table/change_conformance.h"
#include "tests/table/lookup_conformance.h"

namespace roost {
namespace {

using Inline = testing::Types<
    InlineVariant<FilteredProbing, SlotTimers, 13>, InlineVariant<FilteredProbing, NoExpiry, 9>,
    InlineVariant<OptimisticProbing, SlotTimers, 13>,
    InlineVariant<OptimisticProbing, NoExpiry, 13>, InlineVariant<OptimisticProbing, SlotTimers, 9>,
    InlineVariant<OptimisticProbing, NoExpiry, 9>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Inline, LookupConformance, Inline, );
INSTANTIATE_TYPED_TEST_SUITE_P(Inline, ChangeConformance, Inline, );

}  // namespace
}  // namespace roost
