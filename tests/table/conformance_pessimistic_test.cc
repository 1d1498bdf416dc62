// The contract in tables that look at both buckets at once, with 8, 4, 2 and 1 slots a bucket.
#include "tests/table/change_conformance.h"
#include "tests/table/lookup_conformance.h"

namespace roost {
namespace {

// Fewer slots with or without timers only; the oracle runs them the other way.
using Pessimistic = testing::Types<
    Variant<PessimisticProbing<8>, NoExpiry>, Variant<PessimisticProbing<8>, SlotTimers>,
    Variant<PessimisticProbing<4>, SlotTimers>, Variant<PessimisticProbing<2>, NoExpiry>,
    Variant<PessimisticProbing<1>, SlotTimers>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Pessimistic, LookupConformance, Pessimistic, );
INSTANTIATE_TYPED_TEST_SUITE_P(Pessimistic, ChangeConformance, Pessimistic, );

}  // namespace
}  // namespace roost
