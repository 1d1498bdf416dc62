// Pessimistic tables against the model, with 8, 4, 2 and 1 slots a bucket.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using EightSlots = M<Key16, 16, SlotTimers, PessimisticProbing<8>>;
using TwoSlots = M<Key16, 16, NoExpiry, PessimisticProbing<2>>;
using OneSlot = M<Key16, 0, SlotTimers, PessimisticProbing<1>>;

using Pessimistic = testing::Types<
    Setup<EightSlots, 1000, 1100, kFast, 15'000>, Setup<EightSlots, 1000, 1100, kPlain, 10'000>,
    Setup<EightSlots, 4096, 40, kFast, 10'000, kConstantSeed>,
    Setup<M<Key40, 8, NoExpiry, PessimisticProbing<4>>, 1000, 1100, kPlain, 10'000>,
    Setup<TwoSlots, 512, 560, kFast, 15'000>, Setup<TwoSlots, 512, 560, kFast, 10'000, kOneTagSeed>,
    Setup<OneSlot, 512, 400, kPlain, 10'000>, Setup<OneSlot, 2, 6, kFast, 5'000>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Pessimistic, OracleTest, Pessimistic, );

}  // namespace
}  // namespace roost
