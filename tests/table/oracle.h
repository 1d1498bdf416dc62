// A table's configuration against the naive model, by random mirrored operations (T-01, T-02,
// T-03). Each oracle_*_test.cc runs this test over some configurations.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "roost/table/horton_probing.h"
#include "tests/table/mirrored_flow_table.h"
#include "tests/table/mirrored_run.h"

namespace roost {

// Which kernels a setup runs: the scalar one, or every other that this processor has in turn.
enum class Kernels : uint8_t { kPlain, kFast };
using enum Kernels;

inline Isa kernel_for(Kernels kernels, uint64_t turn) {
  std::vector<Isa> fast;
  for (const Isa isa : isas_built()) {
    if (isa != Isa::kScalar && isa_is_supported(isa)) fast.push_back(isa);
  }
  return kernels == kPlain || fast.empty() ? Isa::kScalar : fast[turn % fast.size()];
}

template <class M, uint64_t kCapacity_, uint64_t kUniverse_, Kernels kKernels_, unsigned kSteps_,
          uint64_t kHashSeed_ = 7>
struct Setup {
  using MirrorType = M;
  static constexpr uint64_t kCapacity = kCapacity_;
  static constexpr uint64_t kUniverse = kUniverse_;
  static inline constexpr Kernels kKernels = kKernels_;
  static constexpr unsigned kSteps = kSteps_;
  static constexpr uint64_t kHashSeed = kHashSeed_;
};

template <class Key, size_t kValueBytes, class Expiry, class Probing>
using M = MirrorOf<Key, Value<kValueBytes>, Expiry, Probing>;

template <class SetupType>
class OracleTest : public testing::Test {};

TYPED_TEST_SUITE_P(OracleTest);

TYPED_TEST_P(OracleTest, table_and_model_agree_under_random_operations) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Isa isa = kernel_for(TypeParam::kKernels, seed);
    Mirror mirror = TypeParam::MirrorType::make(TypeParam::kCapacity, TypeParam::kUniverse, isa,
                                                TypeParam::kHashSeed);
    ASSERT_NO_FATAL_FAILURE(run_mirrored(mirror, seed, TypeParam::kSteps / 3));
    // The loop ran the kernel it was told to.
    ASSERT_EQ(mirror.table().stats().lookups.last_kernel, isa);
  }
}

REGISTER_TYPED_TEST_SUITE_P(OracleTest, table_and_model_agree_under_random_operations);

}  // namespace roost
