// Mirrored operations over the C interface, chosen by a fuzzer's bytes; the first byte chooses the
// sizes.
#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/capi/mirrored_c_table.h"
#include "tests/table/fuzz_run.h"

namespace roost {
namespace {

struct FuzzCase {
  EntrySizes sizes;
  uint64_t capacity;
  uint64_t key_universe;
};

constexpr std::array<FuzzCase, 7> kCases = {{{{5, 1, true}, 64, 90},
                                             {{6, 2, false}, 48, 60},
                                             {{13, 16, true}, 64, 90},
                                             {{24, 0, false}, 32, 50},
                                             {{32, 8, true}, 32, 50},
                                             {{37, 4, true}, 48, 70},
                                             {{63, 100, true}, 32, 50}}};

}  // namespace
}  // namespace roost

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  if (size == 0) return 0;
  const FuzzCase& chosen = kCases[data[0] % kCases.size()];
  fuzz_run(c_mirror(chosen.sizes, chosen.capacity, chosen.key_universe),
           FuzzBytes(data + 1, size - 1));
  return 0;
}
