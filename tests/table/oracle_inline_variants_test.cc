// Inline tables against the model: without a filter, and the hashes that oracle_inline_test.cc
// leaves out.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using Inline = testing::Types<
    Setup<M<ByteKey<13>, 16, SlotTimers, OptimisticProbing>, 1000, 1100, kFast, 10'000>,
    Setup<M<ByteKey<13>, 16, NoExpiry, FilteredProbing>, 600, 800, kFast, 10'000, kOneTagSeed>,
    Setup<M<ByteKey<13>, 4, NoExpiry, OptimisticProbing>, 1000, 1100, kPlain, 10'000>,
    Setup<M<ByteKey<13>, 4, NoExpiry, OptimisticProbing>, 4096, 14, kFast, 10'000, kConstantSeed>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Inline, OracleTest, Inline, );

}  // namespace
}  // namespace roost
