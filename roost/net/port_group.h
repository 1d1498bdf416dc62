// Ports that one packet leaves by, all with the same bytes: what a switch floods, or mirrors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/base/index_mask.h"
#include "roost/net/vlan_tags.h"

namespace roost::net {

inline constexpr size_t kReplicatedPortsMax = 64;  // a packet leaves by several of the first 64
using PortSet = IndexMask<uint64_t, struct PortKind>;

// Of the frame as the datapath leaves it, `popped` outermost VLAN tags go, then `pushed` come.
struct PortGroup {
  PortSet ports{};
  uint8_t popped = 0;
  VlanTags pushed{};

  bool operator==(const PortGroup&) const = default;
};

inline constexpr size_t kPortGroupsMax = 4;  // of a packet

}  // namespace roost::net
