// Filtered and optimistic tables against the model: key and value sizes, capacities, hashes.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using Filtered = testing::Types<
    // Sizes and policies, loads around full.
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, KeyedHash>, 1024, 1300, kFast, 30'000>,
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, KeyedHash>, 1024, 1300, kPlain, 10'000>,
    Setup<M<Key16, 16, NoExpiry, FilteredProbing, KeyedHash>, 1000, 1100, kFast, 20'000>,
    Setup<M<Key16, 4, SlotTimers, OptimisticProbing, KeyedHash>, 500, 600, kFast, 10'000>,
    Setup<M<Key16, 8, NoExpiry, OptimisticProbing, KeyedHash>, 500, 600, kPlain, 10'000>,
    Setup<M<Key40, 0, NoExpiry, FilteredProbing, KeyedHash>, 400, 500, kFast, 10'000>,
    Setup<M<Key40, 0, SlotTimers, FilteredProbing, KeyedHash>, 400, 500, kPlain, 10'000>,
    Setup<M<Key40, 16, SlotTimers, FilteredProbing, KeyedHash>, 1024, 1300, kFast, 20'000>,
    Setup<M<Key40, 16, SlotTimers, FilteredProbing, KeyedHash>, 1024, 1300, kPlain, 10'000>,
    Setup<M<Key40, 64, NoExpiry, FilteredProbing, KeyedHash>, 300, 400, kFast, 10'000>,
    Setup<M<Key40, 4, SlotTimers, OptimisticProbing, KeyedHash>, 300, 400, kFast, 10'000>,
    Setup<M<Key40, 1, SlotTimers, FilteredProbing, KeyedHash>, 300, 400, kPlain, 10'000>,
    // The smallest tables.
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, KeyedHash>, 16, 40, kFast, 20'000>,
    Setup<M<Key16, 8, SlotTimers, FilteredProbing, KeyedHash>, 17, 40, kPlain, 10'000>,
    Setup<M<Key40, 13, NoExpiry, FilteredProbing, KeyedHash>, 33, 60, kFast, 10'000>,
    // Degenerate hashes.
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, ConstantHash>, 4096, 40, kFast, 20'000>,
    Setup<M<Key40, 8, NoExpiry, FilteredProbing, ConstantHash>, 4096, 40, kPlain, 10'000>,
    Setup<M<Key16, 16, SlotTimers, OptimisticProbing, ConstantHash>, 4096, 40, kFast, 10'000>,
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, OneTagHash>, 1024, 1300, kFast, 20'000>,
    Setup<M<Key40, 16, NoExpiry, FilteredProbing, OneTagHash>, 1024, 1300, kPlain, 10'000>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Filtered, OracleTest, Filtered, );

}  // namespace
}  // namespace roost
