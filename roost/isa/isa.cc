#include "roost/isa/isa.h"

#include <algorithm>

namespace roost {
namespace {

#if defined(__x86_64__)
constexpr Isa kBuilt[] = {Isa::kScalar, Isa::kSse42, Isa::kAvx2};
#elif defined(__aarch64__)
constexpr Isa kBuilt[] = {Isa::kScalar, Isa::kNeon};
#else
constexpr Isa kBuilt[] = {Isa::kScalar};
#endif

// Whether this processor has what a kernel of this build needs: most need only the architecture.
bool processor_has([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kSse42) return __builtin_cpu_supports("sse4.2") != 0;
  if (isa == Isa::kAvx2) {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
           __builtin_cpu_supports("bmi2") != 0;
  }
#endif
  return true;
}

}  // namespace

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kSse42:
      return "sse4.2";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kNeon:
      return "neon";
  }
  return "unknown";
}

std::span<const Isa> isas_built() { return kBuilt; }

bool isa_is_supported(Isa isa) {
  return std::ranges::count(kBuilt, isa) != 0 && processor_has(isa);
}

Isa isa_best() {
  Isa best = Isa::kScalar;
  for (const Isa isa : kBuilt) {
    if (processor_has(isa)) best = isa;
  }
  return best;
}

}  // namespace roost
