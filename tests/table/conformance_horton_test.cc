// The contract in tables with a choice of secondary buckets, and in those that always go there.
#include "tests/table/change_conformance.h"
#include "tests/table/lookup_conformance.h"

namespace roost {
namespace {

using Horton = testing::Types<Variant<HortonProbing, NoExpiry>, Variant<HortonProbing, SlotTimers>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Horton, LookupConformance, Horton, );
INSTANTIATE_TYPED_TEST_SUITE_P(Horton, ChangeConformance, Horton, );

using Optimistic =
    testing::Types<Variant<OptimisticProbing, NoExpiry>, Variant<OptimisticProbing, SlotTimers>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Optimistic, LookupConformance, Optimistic, );
INSTANTIATE_TYPED_TEST_SUITE_P(Optimistic, ChangeConformance, Optimistic, );

}  // namespace
}  // namespace roost
