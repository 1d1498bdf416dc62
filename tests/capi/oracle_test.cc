// The C interface against the naive model, by the mirrored operations that hold FlowTable against
// it: every size of padded keys, values copied by every size, with and without expiry.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/capi/mirrored_c_table.h"
#include "tests/table/mirrored_run.h"

namespace roost {
namespace {

struct OracleCase {
  EntrySizes sizes;
  uint64_t capacity = 500;
};

class CInterfaceTest : public testing::TestWithParam<OracleCase> {};

constexpr bool kTimers = true;
constexpr bool kNoTimers = false;

const auto kCases = testing::Values(
    // Keys that fill their class.
    OracleCase{{8, 8, kTimers}}, OracleCase{{16, 16, kTimers}}, OracleCase{{24, 0, kTimers}},
    OracleCase{{32, 4, kNoTimers}}, OracleCase{{40, 16, kNoTimers}}, OracleCase{{64, 256, kTimers}},
    // Keys that are padded.
    OracleCase{{1, 1, kTimers}, 200}, OracleCase{{5, 4, kNoTimers}}, OracleCase{{13, 16, kTimers}},
    OracleCase{{17, 8, kTimers}}, OracleCase{{31, 100, kTimers}}, OracleCase{{37, 0, kNoTimers}},
    OracleCase{{48, 100, kTimers}}, OracleCase{{63, 1, kTimers}},
    // Inline: three slots a bucket; two, with the smallest key and the largest value.
    OracleCase{{13, 4, kTimers}}, OracleCase{{7, 5, kNoTimers}}, OracleCase{{12, 0, kNoTimers}},
    OracleCase{{13, 16, kNoTimers}}, OracleCase{{4, 25, kTimers}}, OracleCase{{16, 13, kTimers}},
    // Packed.
    OracleCase{{6, 2, kNoTimers}}, OracleCase{{4, 1, kNoTimers}}, OracleCase{{3, 0, kNoTimers}},
    // The smallest tables, which are full most of the time.
    OracleCase{{16, 16, kTimers}, 16}, OracleCase{{13, 16, kTimers}, 4},
    OracleCase{{13, 4, kNoTimers}, 6}, OracleCase{{6, 2, kNoTimers}, 32});

TEST_P(CInterfaceTest, table_and_model_agree_under_random_operations) {
  const auto [sizes, capacity] = GetParam();
  const uint64_t universe = sizes.key_bytes == 1 ? 256 : capacity + capacity / 4;
  for (const Isa isa : isas_built()) {
    if (!isa_is_supported(isa)) continue;
    SCOPED_TRACE(isa_name(isa));
    Mirror mirror = c_mirror(sizes, capacity, universe, isa);
    ASSERT_NO_FATAL_FAILURE(run_mirrored(mirror, 11, 3'000));
    ASSERT_EQ(mirror.table().stats().lookups.last_kernel, isa);
  }
}

std::string name_of(const testing::TestParamInfo<OracleCase>& test) {
  const EntrySizes& sizes = test.param.sizes;
  return std::to_string(sizes.key_bytes) + "_" + std::to_string(sizes.value_bytes) +
         (sizes.expires ? "_timers_" : "_") + std::to_string(test.param.capacity);
}

INSTANTIATE_TEST_SUITE_P(Sizes, CInterfaceTest, kCases, name_of);

}  // namespace
}  // namespace roost
