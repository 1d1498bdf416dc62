// The contract in tables with keys and values in the buckets' lines, two and three slots a bucket.
#include "tests/table/change_conformance.h"
#include "tests/table/lookup_conformance.h"

namespace roost {
namespace {

using Inline = testing::Types<InlineVariant<FilteredProbing, NoExpiry, 13>,
                              InlineVariant<FilteredProbing, SlotTimers, 9>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Inline, LookupConformance, Inline, );
INSTANTIATE_TYPED_TEST_SUITE_P(Inline, ChangeConformance, Inline, );

}  // namespace
}  // namespace roost
