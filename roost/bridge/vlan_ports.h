// Which ports are in which VLAN, and the tags of frames between them (IEEE 802.1Q clause 8.6).
//
// A frame belongs to the VLAN of its C-tag; without one, or with a tag that carries a priority
// only, to the one that its port has untagged. It leaves by ports that have the VLAN, with or
// without a tag as the port has it. An S-tag is payload.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/net/byte_order.h"
#include "roost/net/headers.h"
#include "roost/net/packet_batch.h"
#include "roost/net/port_group.h"
#include "roost/net/vlan_tags.h"

namespace roost::bridge {

inline constexpr uint16_t kVlanMin = 1;
inline constexpr uint16_t kVlanMax = 4'094;

// What a frame's tag says of it.
struct FrameVlan {
  uint16_t vlan = 0;     // 0: of none that its port has
  bool has_tag = false;  // a C-tag, be it for its priority only
  uint16_t control = 0;  // of the tag that it has, else 0
};

class VlanPorts {
 public:
  struct Port {
    std::optional<uint16_t> untagged{};
    std::vector<uint16_t> tagged{};
  };

  // Up to net::kReplicatedPortsMax ports.
  explicit VlanPorts(std::span<const Port> ports) : own_(ports.size(), 0), vlans_(kVlanMax + 1) {
    for (size_t i = 0; i < ports.size(); ++i) {
      const net::PortSet port = net::PortSet::of(static_cast<unsigned>(i));
      own_[i] = ports[i].untagged.value_or(0);
      if (const auto untagged = ports[i].untagged) vlans_[*untagged].untagged |= port;
      for (const uint16_t vlan : ports[i].tagged) vlans_[vlan].tagged |= port;
    }
  }

  // Of a frame with a whole Ethernet header; nothing when it ends inside of its tag.
  [[nodiscard]] std::optional<FrameVlan> vlan_of(const net::Packet& packet) const {
    FrameVlan frame{.vlan = own_[packet.in_port]};
    const uint8_t* type = packet.data + net::ethernet::kAddressesBytes;
    if (net::load_be16(type) == net::vlan::kCustomer) {
      if (packet.contiguous_bytes < net::ethernet::kHeaderBytes + net::vlan::kTagBytes)
        return std::nullopt;
      frame.has_tag = true;
      frame.control = net::load_be16(type + net::ethernet::kEtherTypeBytes);
      const uint16_t identifier = frame.control & net::vlan::kIdentifierMask;
      if (identifier != net::vlan::kPriorityOnly) frame.vlan = identifier;
    }
    if (!ports_of(frame.vlan).has(packet.in_port)) frame.vlan = 0;
    return frame;
  }

  // All ports of a VLAN; of none, none.
  [[nodiscard]] net::PortSet ports_of(uint16_t vlan) const {
    if (vlan < kVlanMin || vlan > kVlanMax) return net::PortSet{};
    return vlans_[vlan].untagged | vlans_[vlan].tagged;
  }
  [[nodiscard]] net::PortSet untagged_ports(uint16_t vlan) const { return vlans_[vlan].untagged; }

  // What becomes of a frame's tag where its VLAN is untagged, and where it is tagged.
  [[nodiscard]] static net::PortGroup untagged_group(const FrameVlan& frame, net::PortSet ports) {
    return {.ports = ports, .popped = frame.has_tag ? uint8_t{1} : uint8_t{0}};
  }
  [[nodiscard]] static net::PortGroup tagged_group(const FrameVlan& frame, net::PortSet ports) {
    if (frame.has_tag && (frame.control & net::vlan::kIdentifierMask) == frame.vlan)
      return {.ports = ports};
    const auto control =
        static_cast<uint16_t>((frame.control & ~net::vlan::kIdentifierMask) | frame.vlan);
    net::PortGroup group = untagged_group(frame, ports);
    group.pushed = {.count = 1, .tags = {{{net::vlan::kCustomer, control}}}};
    return group;
  }

 private:
  struct Members {
    net::PortSet untagged{};
    net::PortSet tagged{};
  };

  std::vector<uint16_t> own_;  // the VLAN that each port has untagged, or 0
  std::vector<Members> vlans_;
};

}  // namespace roost::bridge
