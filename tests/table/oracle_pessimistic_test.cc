// Pessimistic tables against the model, with 8, 4, 2 and 1 slots a bucket.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using Pessimistic = testing::Types<
    Setup<M<Key16, 16, SlotTimers, PessimisticProbing<8>, KeyedHash>, 1000, 1100, kFast, 15'000>,
    Setup<M<Key40, 8, NoExpiry, PessimisticProbing<8>, KeyedHash>, 1000, 1100, kPlain, 10'000>,
    Setup<M<Key16, 16, SlotTimers, PessimisticProbing<8>, ConstantHash>, 4096, 40, kFast, 10'000>,
    Setup<M<Key16, 8, NoExpiry, PessimisticProbing<4>, KeyedHash>, 1000, 1100, kPlain, 10'000>,
    Setup<M<Key16, 16, SlotTimers, PessimisticProbing<2>, KeyedHash>, 512, 560, kFast, 15'000>,
    Setup<M<Key16, 16, NoExpiry, PessimisticProbing<2>, OneTagHash>, 512, 560, kFast, 10'000>,
    Setup<M<Key16, 8, NoExpiry, PessimisticProbing<1>, KeyedHash>, 512, 400, kPlain, 10'000>,
    Setup<M<Key16, 0, SlotTimers, PessimisticProbing<1>, KeyedHash>, 2, 6, kFast, 5'000>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Pessimistic, OracleTest, Pessimistic, );

}  // namespace
}  // namespace roost
