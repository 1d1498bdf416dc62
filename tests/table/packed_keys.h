// Keys of packed tables.
#pragma once

#include <array>
#include <cstdint>

#include "roost/table/policies.h"
#include "tests/table/test_types.h"

namespace roost {

// A MAC address as it stands in a frame.
struct Mac {
  std::array<uint8_t, 6> bytes;
  static Mac of(uint64_t number) {
    Mac mac;
    for (unsigned i = 0; i < 6; ++i) mac.bytes[i] = static_cast<uint8_t>(number >> (40 - 8 * i));
    return mac;
  }
};

// A VLAN and a MAC address.
struct VlanMac {
  static constexpr unsigned kSignificantBits = 60;
  uint64_t word;
  static VlanMac of(uint64_t number) { return {number & ((uint64_t{1} << 60) - 1)}; }
};

// The keyed permutation or the identity, by the seed.
struct WithPermutation : DefaultPolicies {
  using Hash = TestPermutation;
};

}  // namespace roost
