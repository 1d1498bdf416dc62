#include "targets/switch/prefixes.h"

#include <algorithm>
#include <bit>

#include "roost/base/assert.h"

namespace roost::targets {

std::vector<Prefix> prefixes_of(uint64_t first, uint64_t last) {
  ROOST_ASSERT(first <= last && last <= kSwitchKeyMask);
  std::vector<Prefix> prefixes;
  const uint64_t end = last + 1;
  while (first < end) {
    // The largest that begins here, if it does not pass the end.
    const auto fits = static_cast<unsigned>(std::bit_width(end - first)) - 1;
    const auto begins = static_cast<unsigned>(std::countr_zero(first));
    prefixes.push_back({.first = first, .free_bits = std::min(fits, begins)});
    first = prefixes.back().last() + 1;
  }
  return prefixes;
}

}  // namespace roost::targets
