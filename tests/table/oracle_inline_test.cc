// Inline tables against the model: two slots a bucket (13 + 16 bytes) and three (13 + 4), and the
// edges of what fits. The layout is the one that tables of these sizes have of themselves.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using TwoSlots = M<ByteKey<13>, 16, SlotTimers, FilteredProbing>;
using ThreeSlots = M<ByteKey<13>, 4, SlotTimers, FilteredProbing>;

using Inline = testing::Types<
    // Loads around full, and beyond.
    Setup<TwoSlots, 1000, 1100, kFast, 30'000>, Setup<TwoSlots, 1000, 1100, kPlain, 10'000>,
    Setup<ThreeSlots, 1000, 1100, kFast, 30'000>, Setup<ThreeSlots, 1000, 1100, kPlain, 10'000>,
    Setup<M<Key16, 0, SlotTimers, FilteredProbing>, 400, 500, kFast, 10'000>,
    // The smallest keys with the largest values.
    Setup<M<ByteKey<4>, 25, NoExpiry, FilteredProbing>, 300, 400, kFast, 10'000>,
    // The smallest tables.
    Setup<TwoSlots, 4, 12, kFast, 20'000>, Setup<ThreeSlots, 7, 20, kFast, 20'000>,
    // Degenerate hashes.
    Setup<TwoSlots, 4096, 14, kFast, 10'000, kConstantSeed>,
    Setup<ThreeSlots, 600, 800, kFast, 20'000, kOneTagSeed>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Inline, OracleTest, Inline, );

}  // namespace
}  // namespace roost
