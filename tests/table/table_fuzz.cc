// Mirrored operations chosen by a fuzzer's bytes, over one configuration a first byte.
#include <cstddef>
#include <cstdint>

#include "tests/table/fuzz_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  if (size == 0) return 0;
  const FuzzBytes bytes(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      fuzz_run<Mirror<Key16, Value<16>, SlotTimers, FilteredProbing, KeyedHash>>(64, 90, bytes);
      break;
    case 1:
      fuzz_run<Mirror<Key40, Value<8>, SlotTimers, FilteredProbing, KeyedHash>>(48, 70, bytes);
      break;
    case 2:
      fuzz_run<Mirror<Key16, Value<4>, NoExpiry, FilteredProbing, KeyedHash>>(64, 90, bytes);
      break;
    case 3:
      fuzz_run<Mirror<Key16, Value<0>, SlotTimers, OptimisticProbing, KeyedHash>>(32, 50, bytes);
      break;
    case 4:
      fuzz_run<Mirror<Key16, Value<16>, SlotTimers, FilteredProbing, ConstantHash>>(64, 40, bytes);
      break;
    default:
      fuzz_run<Mirror<Key40, Value<16>, SlotTimers, FilteredProbing, OneTagHash>>(64, 90, bytes);
      break;
  }
  return 0;
}
