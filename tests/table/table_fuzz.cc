// Mirrored operations chosen by a fuzzer's bytes, over one configuration a first byte.
#include <array>
#include <cstddef>
#include <cstdint>

#include "roost/table/horton_probing.h"
#include "tests/table/fuzz_run.h"

namespace roost {
namespace {

template <class MirrorType, uint64_t kCapacity, uint64_t kKeyUniverse>
void run(FuzzBytes bytes) {
  fuzz_run<MirrorType>(kCapacity, kKeyUniverse, bytes);
}

template <class Probing, class Hash, class Expiry = SlotTimers>
using Small = Mirror<Key16, Value<16>, Expiry, Probing, Hash>;
template <class Probing, class Expiry = SlotTimers>
using Wide = Mirror<Key40, Value<8>, Expiry, Probing, KeyedHash>;

// Entries in the buckets' lines.
template <class Probing, class Hash, class Expiry = SlotTimers>
using TwoSlots = Mirror<ByteKey<13>, Value<16>, Expiry, Probing, Hash>;
template <class Probing, class Hash, class Expiry = SlotTimers>
using ThreeSlots = Mirror<ByteKey<13>, Value<4>, Expiry, Probing, Hash>;

// Every variant of probing with and without timers, and the hashes that put all keys together.
constexpr std::array kConfigurations = {
    run<Small<FilteredProbing, KeyedHash>, 64, 90>,
    run<Small<FilteredProbing, ConstantHash>, 64, 40>,
    run<Small<FilteredProbing, OneTagHash>, 64, 90>,
    run<Small<FilteredProbing, KeyedHash, NoExpiry>, 64, 90>,
    run<Wide<FilteredProbing>, 48, 70>,
    run<Mirror<Key40, Value<0>, SlotTimers, OptimisticProbing, KeyedHash>, 32, 50>,
    run<Wide<OptimisticProbing, NoExpiry>, 48, 70>,
    run<Small<PessimisticProbing<8>, KeyedHash>, 64, 90>,
    run<Wide<PessimisticProbing<8>, NoExpiry>, 48, 70>,
    run<Small<PessimisticProbing<4>, KeyedHash>, 64, 90>,
    run<Small<PessimisticProbing<2>, OneTagHash, NoExpiry>, 32, 50>,
    run<Small<PessimisticProbing<1>, KeyedHash>, 32, 30>,
    run<Small<HortonProbing, KeyedHash>, 64, 90>,
    run<Small<HortonProbing, KeyedHash>, 512, 600>,
    run<Small<HortonProbing, ConstantHash>, 64, 40>,
    run<Small<HortonProbing, OneTagHash, NoExpiry>, 128, 150>,
    run<TwoSlots<FilteredProbing, KeyedHash>, 48, 60>,
    run<TwoSlots<OptimisticProbing, OneTagHash, NoExpiry>, 48, 60>,
    run<ThreeSlots<FilteredProbing, KeyedHash>, 48, 60>,
    run<ThreeSlots<OptimisticProbing, ConstantHash, NoExpiry>, 48, 20>,
};

}  // namespace
}  // namespace roost

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  if (size == 0) return 0;
  kConfigurations[data[0] % kConfigurations.size()](FuzzBytes(data + 1, size - 1));
  return 0;
}
