// Mirrored operations chosen by a fuzzer's bytes, over one configuration a first byte.
#include <array>
#include <cstddef>
#include <cstdint>

#include "roost/table/horton_probing.h"
#include "tests/table/fuzz_run.h"
#include "tests/table/mirrored_flow_table.h"

namespace roost {
namespace {

template <class MirrorType, uint64_t kCapacity, uint64_t kKeyUniverse, uint64_t kHashSeed = 7>
void run(FuzzBytes bytes) {
  fuzz_run(MirrorType::make(kCapacity, kKeyUniverse, isa_best(), kHashSeed), bytes);
}

template <class Probing, class Expiry = SlotTimers>
using Small = MirrorOf<Key16, Value<16>, Expiry, Probing>;
template <class Probing, class Expiry = SlotTimers>
using Wide = MirrorOf<Key40, Value<8>, Expiry, Probing>;

// Entries in the buckets' lines.
template <class Probing, class Expiry = SlotTimers>
using TwoSlots = MirrorOf<ByteKey<13>, Value<16>, Expiry, Probing>;
template <class Probing, class Expiry = SlotTimers>
using ThreeSlots = MirrorOf<ByteKey<13>, Value<4>, Expiry, Probing>;

// Every variant of probing, timers with the filter and without, and the hashes that put all keys
// together.
constexpr std::array kConfigurations = {
    run<Small<FilteredProbing>, 64, 90>,
    run<Small<FilteredProbing>, 64, 40, kConstantSeed>,
    run<Small<FilteredProbing>, 64, 90, kOneTagSeed>,
    run<Wide<FilteredProbing, NoExpiry>, 48, 70>,
    run<MirrorOf<Key40, Value<0>, SlotTimers, OptimisticProbing>, 32, 50>,
    run<Wide<OptimisticProbing, NoExpiry>, 48, 70>,
    run<Small<PessimisticProbing<8>>, 64, 90>,
    run<Wide<PessimisticProbing<4>, NoExpiry>, 48, 70>,
    run<Small<PessimisticProbing<2>, NoExpiry>, 32, 50, kOneTagSeed>,
    run<Small<PessimisticProbing<1>>, 32, 30>,
    run<Small<HortonProbing>, 64, 90>,
    run<Small<HortonProbing>, 512, 600>,
    run<Small<HortonProbing>, 64, 40, kConstantSeed>,
    run<Wide<HortonProbing, NoExpiry>, 128, 150, kOneTagSeed>,
    run<TwoSlots<FilteredProbing>, 48, 60>,
    run<TwoSlots<OptimisticProbing, NoExpiry>, 48, 60, kOneTagSeed>,
    run<ThreeSlots<FilteredProbing>, 48, 60>,
    run<ThreeSlots<OptimisticProbing, NoExpiry>, 48, 20, kConstantSeed>,
};

}  // namespace
}  // namespace roost

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  if (size == 0) return 0;
  kConfigurations[data[0] % kConfigurations.size()](FuzzBytes(data + 1, size - 1));
  return 0;
}
