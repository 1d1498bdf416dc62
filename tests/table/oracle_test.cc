// Every table configuration against the naive model, by random mirrored operations (T-01, T-02,
// T-03).
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "tests/table/mirror.h"

namespace roost {
namespace {

template <class M, uint64_t kCapacity_, uint64_t kUniverse_, Isa kIsa_, unsigned kSteps_>
struct Setup {
  using MirrorType = M;
  static constexpr uint64_t kCapacity = kCapacity_;
  static constexpr uint64_t kUniverse = kUniverse_;
  static constexpr Isa kIsa = kIsa_;
  static constexpr unsigned kSteps = kSteps_;
};

#if defined(__x86_64__)
constexpr Isa kFast = Isa::kSse42;
#elif defined(__aarch64__)
constexpr Isa kFast = Isa::kNeon;
#else
constexpr Isa kFast = Isa::kScalar;
#endif
constexpr Isa kPlain = Isa::kScalar;

template <class Key, size_t kValueBytes, class Expiry, class Probing, class Hash>
using M = Mirror<Key, Value<kValueBytes>, Expiry, Probing, Hash>;

template <class SetupType>
class OracleTest : public testing::Test {};

using Setups = testing::Types<
    // Sizes and policies, loads around full.
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, KeyedHash>, 1024, 1300, kFast, 30'000>,
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, KeyedHash>, 1024, 1300, kPlain, 10'000>,
    Setup<M<Key16, 16, NoExpiry, FilteredProbing, KeyedHash>, 1000, 1100, kFast, 20'000>,
    Setup<M<Key16, 4, SlotTimers, OptimisticProbing, KeyedHash>, 500, 600, kFast, 10'000>,
    Setup<M<Key16, 8, NoExpiry, OptimisticProbing, KeyedHash>, 500, 600, kPlain, 10'000>,
    Setup<M<Key16, 0, NoExpiry, FilteredProbing, KeyedHash>, 400, 500, kFast, 10'000>,
    Setup<M<Key16, 0, SlotTimers, FilteredProbing, KeyedHash>, 400, 500, kPlain, 10'000>,
    Setup<M<Key40, 16, SlotTimers, FilteredProbing, KeyedHash>, 1024, 1300, kFast, 20'000>,
    Setup<M<Key40, 16, SlotTimers, FilteredProbing, KeyedHash>, 1024, 1300, kPlain, 10'000>,
    Setup<M<Key40, 64, NoExpiry, FilteredProbing, KeyedHash>, 300, 400, kFast, 10'000>,
    Setup<M<Key40, 4, SlotTimers, OptimisticProbing, KeyedHash>, 300, 400, kFast, 10'000>,
    Setup<M<Key40, 1, SlotTimers, FilteredProbing, KeyedHash>, 300, 400, kPlain, 10'000>,
    // The smallest tables.
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, KeyedHash>, 16, 40, kFast, 20'000>,
    Setup<M<Key16, 8, SlotTimers, FilteredProbing, KeyedHash>, 17, 40, kPlain, 10'000>,
    Setup<M<Key40, 13, NoExpiry, FilteredProbing, KeyedHash>, 33, 60, kFast, 10'000>,
    // Degenerate hashes.
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, ConstantHash>, 4096, 40, kFast, 20'000>,
    Setup<M<Key40, 8, NoExpiry, FilteredProbing, ConstantHash>, 4096, 40, kPlain, 10'000>,
    Setup<M<Key16, 16, SlotTimers, OptimisticProbing, ConstantHash>, 4096, 40, kFast, 10'000>,
    Setup<M<Key16, 16, SlotTimers, FilteredProbing, OneTagHash>, 1024, 1300, kFast, 20'000>,
    Setup<M<Key40, 16, NoExpiry, FilteredProbing, OneTagHash>, 1024, 1300, kPlain, 10'000>>;

TYPED_TEST_SUITE(OracleTest, Setups, );

TYPED_TEST(OracleTest, table_and_model_agree_under_random_operations) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto choose = [&random](uint64_t count) { return random() % count; };
    typename TypeParam::MirrorType mirror(TypeParam::kCapacity, TypeParam::kUniverse,
                                          TypeParam::kIsa);
    for (unsigned step = 0; step < TypeParam::kSteps / 3; ++step) {
      const std::optional<std::string_view> wrong = mirror.step(choose);
      ASSERT_FALSE(wrong) << "step " << step << ": " << *wrong;
      if (step % 250 == 0) {
        const std::optional<std::string_view> difference = mirror.compare_all();
        ASSERT_FALSE(difference) << "step " << step << ": " << *difference;
      }
    }
    const std::optional<std::string_view> unsettled = mirror.settle();
    ASSERT_FALSE(unsettled) << *unsettled;
    // The loop ran the kernel it was told to.
    ASSERT_EQ(mirror.table().stats().lookups.last_kernel, TypeParam::kIsa);
  }
}

}  // namespace
}  // namespace roost
