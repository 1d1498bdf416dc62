// The contract in tables that keep a filter: what users have.
#include "tests/table/change_conformance.h"
#include "tests/table/lookup_conformance.h"

namespace roost {
namespace {

using Filtered =
    testing::Types<Variant<FilteredProbing, NoExpiry>, Variant<FilteredProbing, SlotTimers>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Filtered, LookupConformance, Filtered, );
INSTANTIATE_TYPED_TEST_SUITE_P(Filtered, ChangeConformance, Filtered, );

}  // namespace
}  // namespace roost
