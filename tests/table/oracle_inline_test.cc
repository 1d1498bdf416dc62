// Inline tables against the model: two slots a bucket (13 + 16 bytes) and three (13 + 4), and the
// edges of what fits. The layout is the one that tables of these sizes have of themselves.
#include "tests/table/oracle.h"

namespace roost {
namespace {

using Inline = testing::Types<
    // Loads around full, and beyond.
    Setup<M<ByteKey<13>, 16, SlotTimers, FilteredProbing, KeyedHash>, 1000, 1100, kFast, 30'000>,
    Setup<M<ByteKey<13>, 16, SlotTimers, FilteredProbing, KeyedHash>, 1000, 1100, kPlain, 10'000>,
    Setup<M<ByteKey<13>, 4, SlotTimers, FilteredProbing, KeyedHash>, 1000, 1100, kFast, 30'000>,
    Setup<M<ByteKey<13>, 4, SlotTimers, FilteredProbing, KeyedHash>, 1000, 1100, kPlain, 10'000>,
    Setup<M<ByteKey<8>, 8, NoExpiry, FilteredProbing, KeyedHash>, 500, 600, kFast, 10'000>,
    Setup<M<Key16, 0, SlotTimers, FilteredProbing, KeyedHash>, 400, 500, kFast, 10'000>,
    // The smallest keys with the largest values.
    Setup<M<ByteKey<4>, 25, NoExpiry, FilteredProbing, KeyedHash>, 300, 400, kFast, 10'000>,
    // The smallest tables.
    Setup<M<ByteKey<13>, 16, SlotTimers, FilteredProbing, KeyedHash>, 4, 12, kFast, 20'000>,
    Setup<M<ByteKey<13>, 4, SlotTimers, FilteredProbing, KeyedHash>, 7, 20, kFast, 20'000>,
    // Degenerate hashes.
    Setup<M<ByteKey<13>, 16, SlotTimers, FilteredProbing, ConstantHash>, 4096, 14, kFast, 10'000>,
    Setup<M<ByteKey<13>, 4, SlotTimers, FilteredProbing, OneTagHash>, 600, 800, kFast, 20'000>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Inline, OracleTest, Inline, );

}  // namespace
}  // namespace roost
