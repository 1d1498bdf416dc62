// VLAN tags as values: IEEE 802.1Q clause 9. Where they stand in a frame is said in headers.h.
#pragma once

#include <array>
#include <cstdint>

#include "roost/net/headers.h"

namespace roost::net {

struct VlanTag {
  uint16_t protocol_identifier = vlan::kCustomer;  // vlan::kCustomer or vlan::kService
  uint16_t control = 0;  // priority (3 bits), drop eligible (1), identifier (12)

  [[nodiscard]] constexpr uint16_t identifier() const { return control & vlan::kIdentifierMask; }
  bool operator==(const VlanTag&) const = default;
};

// The VLAN tags of a frame, outermost first.
struct VlanTags {
  uint8_t count = 0;
  std::array<VlanTag, vlan::kTagsMax> tags{};  // those from `count` on are default

  // One tag that names no VLAN: the frame is of its port's own (IEEE 802.1Q clause 6.9.1).
  [[nodiscard]] constexpr bool is_priority_only() const {
    return count == 1 && tags[0].identifier() == vlan::kPriorityOnly;
  }

  bool operator==(const VlanTags&) const = default;
};

}  // namespace roost::net
