// Horton tables against the model.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using Horton = testing::Types<
    // Loads around full, where keys are refused.
    Setup<M<Key16, 16, SlotTimers, HortonProbing, KeyedHash>, 1024, 1300, kFast, 30'000>,
    Setup<M<Key16, 16, SlotTimers, HortonProbing, KeyedHash>, 1024, 1300, kPlain, 10'000>,
    Setup<M<Key16, 16, NoExpiry, HortonProbing, KeyedHash>, 1000, 1100, kFast, 20'000>,
    Setup<M<Key40, 4, NoExpiry, HortonProbing, KeyedHash>, 300, 400, kFast, 10'000>,
    // Few buckets, where several functions lead to the same one.
    Setup<M<Key16, 16, SlotTimers, HortonProbing, KeyedHash>, 16, 40, kFast, 6'000>,
    Setup<M<Key16, 0, SlotTimers, HortonProbing, KeyedHash>, 64, 90, kPlain, 9'000>,
    // Degenerate hashes: one remap field for all keys.
    Setup<M<Key16, 16, SlotTimers, HortonProbing, ConstantHash>, 4096, 40, kFast, 6'000>,
    Setup<M<Key16, 16, SlotTimers, HortonProbing, OneTagHash>, 1024, 1300, kFast, 20'000>,
    Setup<M<Key40, 16, NoExpiry, HortonProbing, OneTagHash>, 1024, 1300, kPlain, 10'000>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Horton, OracleTest, Horton, );

}  // namespace
}  // namespace roost
