// Prefixes: the numbers that begin with the same bits, as a match table's entry with a mask has
// them.
#pragma once

#include <cstdint>
#include <vector>

namespace roost::targets {

// As many bits as a key has in a switch: those of an Ethernet address.
inline constexpr unsigned kSwitchKeyBits = 48;
inline constexpr uint64_t kSwitchKeyMask = (uint64_t{1} << kSwitchKeyBits) - 1;

// 2^free_bits numbers, `first` and those behind it; `first` is a multiple of that.
struct Prefix {
  uint64_t first = 0;
  unsigned free_bits = 0;

  [[nodiscard]] constexpr uint64_t last() const { return first + ((uint64_t{1} << free_bits) - 1); }
  [[nodiscard]] constexpr uint64_t mask() const {
    return kSwitchKeyMask & ~((uint64_t{1} << free_bits) - 1);
  }
  [[nodiscard]] constexpr unsigned length() const { return kSwitchKeyBits - free_bits; }

  bool operator==(const Prefix&) const = default;
};

// The fewest prefixes that have the numbers from `first` to `last`, below 2^48, and no other;
// rising. At most 94.
[[nodiscard]] std::vector<Prefix> prefixes_of(uint64_t first, uint64_t last);

}  // namespace roost::targets
