// Horton tables against the model.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using Flows = M<Key16, 16, SlotTimers, HortonProbing>;
using Wide = M<Key40, 16, NoExpiry, HortonProbing>;

using Horton = testing::Types<
    // Loads around full, where keys are refused.
    Setup<Flows, 1024, 1300, kFast, 30'000>, Setup<Flows, 1024, 1300, kPlain, 10'000>,
    Setup<Wide, 300, 400, kFast, 20'000>,
    // Few buckets, where several functions lead to the same one.
    Setup<Flows, 16, 40, kFast, 6'000>,
    Setup<M<Key16, 0, SlotTimers, HortonProbing>, 64, 90, kPlain, 9'000>,
    // Degenerate hashes: one remap field for all keys.
    Setup<Flows, 4096, 40, kFast, 6'000, kConstantSeed>,
    Setup<Flows, 1024, 1300, kFast, 20'000, kOneTagSeed>,
    Setup<Wide, 1024, 1300, kPlain, 10'000, kOneTagSeed>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Horton, OracleTest, Horton, );

}  // namespace
}  // namespace roost
