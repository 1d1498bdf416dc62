// Filtered and optimistic tables against the model: key and value sizes, capacities, hashes.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using Flows = M<Key16, 16, SlotTimers, FilteredProbing>;
using Wide = M<Key40, 13, NoExpiry, FilteredProbing>;
using Unfiltered = M<Key16, 8, SlotTimers, OptimisticProbing>;

using Filtered = testing::Types<
    // Loads around full, and the smallest tables.
    Setup<Flows, 1024, 1300, kFast, 30'000>, Setup<Flows, 1024, 1300, kPlain, 10'000>,
    Setup<Flows, 16, 40, kFast, 20'000>, Setup<Flows, 17, 40, kPlain, 10'000>,
    Setup<M<Key16, 4, NoExpiry, FilteredProbing>, 1000, 1100, kFast, 20'000>,
    // Keys with a register of their own, sets, and values of every kind of size.
    Setup<Wide, 1024, 1300, kFast, 20'000>, Setup<Wide, 33, 60, kPlain, 10'000>,
    Setup<M<Key40, 0, SlotTimers, FilteredProbing>, 400, 500, kFast, 10'000>,
    Setup<M<Key40, 0, SlotTimers, FilteredProbing>, 400, 500, kPlain, 10'000>,
    Setup<M<Key40, 64, SlotTimers, FilteredProbing>, 300, 400, kFast, 10'000>,
    // Without a filter.
    Setup<Unfiltered, 500, 600, kFast, 10'000>, Setup<Unfiltered, 500, 600, kPlain, 10'000>,
    // Degenerate hashes.
    Setup<Flows, 4096, 40, kFast, 20'000, kConstantSeed>,
    Setup<Wide, 4096, 40, kPlain, 10'000, kConstantSeed>,
    Setup<Unfiltered, 4096, 40, kFast, 10'000, kConstantSeed>,
    Setup<Flows, 1024, 1300, kFast, 20'000, kOneTagSeed>,
    Setup<Wide, 1024, 1300, kPlain, 10'000, kOneTagSeed>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Filtered, OracleTest, Filtered, );

}  // namespace
}  // namespace roost
