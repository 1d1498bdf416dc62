// The contract in tables with a word an entry: keys of 48 bits, which a MAC address has, and of 32.
#include "tests/table/change_conformance.h"
#include "tests/table/lookup_conformance.h"

namespace roost {
namespace {

using Packed = testing::Types<PackedVariant<6>, PackedVariant<4>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Packed, LookupConformance, Packed, );
INSTANTIATE_TYPED_TEST_SUITE_P(Packed, ChangeConformance, Packed, );

}  // namespace
}  // namespace roost
