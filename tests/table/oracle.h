// A table's configuration against the naive model, by random mirrored operations (T-01, T-02,
// T-03). Each oracle_*_test.cc runs this test over some configurations.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "roost/table/horton_probing.h"
#include "tests/table/mirror.h"
#include "tests/table/mirrored_run.h"

namespace roost {

template <class M, uint64_t kCapacity_, uint64_t kUniverse_, Isa kIsa_, unsigned kSteps_>
struct Setup {
  using MirrorType = M;
  static constexpr uint64_t kCapacity = kCapacity_;
  static constexpr uint64_t kUniverse = kUniverse_;
  static inline constexpr Isa kIsa = kIsa_;
  static constexpr unsigned kSteps = kSteps_;
};

#if defined(__x86_64__)
inline constexpr Isa kFast = Isa::kSse42;
#elif defined(__aarch64__)
inline constexpr Isa kFast = Isa::kNeon;
#else
inline constexpr Isa kFast = Isa::kScalar;
#endif
inline constexpr Isa kPlain = Isa::kScalar;

template <class Key, size_t kValueBytes, class Expiry, class Probing, class Hash>
using M = Mirror<Key, Value<kValueBytes>, Expiry, Probing, Hash>;

template <class SetupType>
class OracleTest : public testing::Test {};

TYPED_TEST_SUITE_P(OracleTest);

TYPED_TEST_P(OracleTest, table_and_model_agree_under_random_operations) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    typename TypeParam::MirrorType mirror(TypeParam::kCapacity, TypeParam::kUniverse,
                                          TypeParam::kIsa);
    ASSERT_NO_FATAL_FAILURE(run_mirrored(mirror, seed, TypeParam::kSteps / 3));
    // The loop ran the kernel it was told to.
    ASSERT_EQ(mirror.table().stats().lookups.last_kernel, TypeParam::kIsa);
  }
}

REGISTER_TYPED_TEST_SUITE_P(OracleTest, table_and_model_agree_under_random_operations);

}  // namespace roost
