// Packed tables against the model: keys of 48 and 32 bits with values of every size, and the hash
// that its user knows.
#include "tests/table/oracle.h"

namespace roost {
namespace {

template <size_t kKeyBytes, size_t kValueBytes>
using Words =
    MirrorOf<ByteKey<kKeyBytes>, Value<kValueBytes>, NoExpiry, OptimisticProbing, TestPermutation>;

using Packed = testing::Types<
    // Loads around full, and beyond.
    Setup<Words<6, 2>, 1000, 1100, kFast, 30'000>, Setup<Words<6, 2>, 1000, 1100, kPlain, 10'000>,
    Setup<Words<4, 1>, 500, 600, kFast, 10'000>, Setup<Words<6, 0>, 400, 500, kFast, 10'000>,
    // The smallest tables.
    Setup<Words<6, 2>, 32, 50, kFast, 20'000>, Setup<Words<4, 2>, 16, 40, kFast, 20'000>,
    // Near keys in one bucket.
    Setup<Words<6, 2>, 64, 90, kFast, 20'000, kIdentitySeed>,
    Setup<Words<4, 2>, 600, 800, kFast, 20'000, kIdentitySeed>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Packed, OracleTest, Packed, );

}  // namespace
}  // namespace roost
