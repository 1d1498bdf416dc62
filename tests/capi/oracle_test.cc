// The C interface against the naive model, by the mirrored operations that hold FlowTable against
// it: every key class, padded keys, values copied by every size, with and without expiry.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/capi/c_table.h"
#include "tests/table/mirror.h"
#include "tests/table/mirrored_run.h"

namespace roost {
namespace {

template <size_t kKeySize, size_t kValueSize, class ExpiryPolicy, uint64_t kSlots = 500>
struct Sizes {
  using MirrorType = Mirror<ByteKey<kKeySize>, Value<kValueSize>, ExpiryPolicy, FilteredProbing,
                            KeyedHash, CTable>;
  static constexpr uint64_t kCapacity = kSlots;
  static constexpr uint64_t kUniverse = kKeySize == 1 ? 256 : kSlots + kSlots / 4;
};

template <class SizesType>
class CInterfaceTest : public testing::Test {};

using AllSizes = testing::Types<
    // Keys that fill their class.
    Sizes<8, 8, SlotTimers>, Sizes<16, 16, SlotTimers>, Sizes<24, 0, SlotTimers>,
    Sizes<32, 4, NoExpiry>, Sizes<40, 16, NoExpiry>, Sizes<64, 256, SlotTimers>,
    // Keys that are padded.
    Sizes<1, 1, SlotTimers, 200>, Sizes<5, 4, NoExpiry>, Sizes<13, 16, SlotTimers>,
    Sizes<17, 8, SlotTimers>, Sizes<31, 100, SlotTimers>, Sizes<37, 0, NoExpiry>,
    Sizes<48, 100, SlotTimers>, Sizes<63, 1, SlotTimers>,
    // Inline: three slots a bucket; two, with the smallest key and the largest value.
    Sizes<13, 4, SlotTimers>, Sizes<7, 5, NoExpiry>, Sizes<12, 0, NoExpiry>,
    Sizes<13, 16, NoExpiry>, Sizes<4, 25, SlotTimers>, Sizes<16, 13, SlotTimers>,
    // The smallest tables, which are full most of the time.
    Sizes<16, 16, SlotTimers, 16>, Sizes<13, 16, SlotTimers, 4>, Sizes<13, 4, NoExpiry, 6>>;
TYPED_TEST_SUITE(CInterfaceTest, AllSizes, );

TYPED_TEST(CInterfaceTest, table_and_model_agree_under_random_operations) {
  for (const Isa isa : isas_built()) {
    if (!isa_is_supported(isa)) continue;
    SCOPED_TRACE(isa_name(isa));
    typename TypeParam::MirrorType mirror(TypeParam::kCapacity, TypeParam::kUniverse, isa);
    ASSERT_NO_FATAL_FAILURE(run_mirrored(mirror, 11, 3'000));
    ASSERT_EQ(mirror.table().stats().lookups.last_kernel, isa);
  }
}

}  // namespace
}  // namespace roost
