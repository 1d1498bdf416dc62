// Mirrored operations chosen by a fuzzer's bytes, over one configuration a first byte: with and
// without filter and timers, in all layouts, and the hashes that put all keys together.
#include "tests/table/table_fuzz.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace roost {
namespace {

// Entries in the buckets' lines.
template <class Probing, class Expiry = SlotTimers>
using TwoSlots = MirrorOf<ByteKey<13>, Value<16>, Expiry, Probing>;
template <class Probing, class Expiry = SlotTimers>
using ThreeSlots = MirrorOf<ByteKey<13>, Value<4>, Expiry, Probing>;

// A word an entry.
using Words = MirrorOf<ByteKey<6>, Value<2>, NoExpiry, OptimisticProbing, TestPermutation>;

constexpr std::array<FuzzConfiguration, 12> kTables = {
    run<Small<FilteredProbing>, 64, 90>,
    run<Small<FilteredProbing>, 64, 40, kConstantSeed>,
    run<Small<FilteredProbing>, 64, 90, kOneTagSeed>,
    run<Wide<FilteredProbing, NoExpiry>, 48, 70>,
    run<MirrorOf<Key40, Value<0>, SlotTimers, OptimisticProbing>, 32, 50>,
    run<Wide<OptimisticProbing, NoExpiry>, 48, 70>,
    run<TwoSlots<FilteredProbing>, 48, 60>,
    run<TwoSlots<OptimisticProbing, NoExpiry>, 48, 60, kOneTagSeed>,
    run<ThreeSlots<FilteredProbing>, 48, 60>,
    run<ThreeSlots<OptimisticProbing, NoExpiry>, 48, 20, kConstantSeed>,
    run<Words, 48, 60>,
    run<Words, 32, 50, kIdentitySeed>,
};

}  // namespace

std::span<const FuzzConfiguration> fuzzed_tables() { return kTables; }

}  // namespace roost

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  if (size == 0) return 0;
  const auto tables = fuzzed_tables();
  const auto variants = fuzzed_variants();
  const size_t chosen = data[0] % (tables.size() + variants.size());
  const FuzzBytes bytes(data + 1, size - 1);
  (chosen < tables.size() ? tables[chosen] : variants[chosen - tables.size()])(bytes);
  return 0;
}
