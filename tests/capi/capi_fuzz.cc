// Mirrored operations over the C interface, chosen by a fuzzer's bytes; the first byte chooses the
// sizes.
#include <cstddef>
#include <cstdint>

#include "tests/capi/c_table.h"
#include "tests/table/fuzz_run.h"

namespace roost {
namespace {

template <size_t kKeySize, size_t kValueSize, class Expiry>
using CMirror =
    Mirror<ByteKey<kKeySize>, Value<kValueSize>, Expiry, FilteredProbing, KeyedHash, CTable>;

}  // namespace
}  // namespace roost

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  if (size == 0) return 0;
  const FuzzBytes bytes(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      fuzz_run<CMirror<5, 1, SlotTimers>>(64, 90, bytes);
      break;
    case 1:
      fuzz_run<CMirror<13, 16, SlotTimers>>(64, 90, bytes);
      break;
    case 2:
      fuzz_run<CMirror<24, 0, NoExpiry>>(32, 50, bytes);
      break;
    case 3:
      fuzz_run<CMirror<32, 8, SlotTimers>>(32, 50, bytes);
      break;
    case 4:
      fuzz_run<CMirror<37, 4, SlotTimers>>(48, 70, bytes);
      break;
    default:
      fuzz_run<CMirror<63, 100, SlotTimers>>(32, 50, bytes);
      break;
  }
  return 0;
}
