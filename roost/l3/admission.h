// Whether a packet is worth looking up: it is whole, addressed to us, of the right VLAN, well
// formed, and allowed to be forwarded at all. Looks at the packet only, changes nothing.
#pragma once

#include <optional>

#include "roost/l3/interface_table.h"
#include "roost/net/drop_cause.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::l3 {

struct AdmissionRules {
  const Interface* interface = nullptr;  // the port that received it
  bool promiscuous = false;              // frames for any unicast MAC are ours
  bool verify_l4_checksum = false;
};

// Why the packet is dropped; nothing when it is admitted, and then `parsed` holds.
[[nodiscard]] std::optional<net::DropCause> admit(const net::Packet& packet,
                                                  const AdmissionRules& rules,
                                                  net::ParsedPacket& parsed);

// Of a packet that is whole: why it may not be forwarded, whatever it carries.
[[nodiscard]] std::optional<net::DropCause> refuse_transit(const net::Packet& packet,
                                                           const net::ParsedPacket& parsed);

// Whether source or destination cannot be on a packet that is forwarded (roost/net/martian.h).
[[nodiscard]] bool is_martian(const net::Packet& packet, const net::ParsedPacket& parsed);

// Whether the frame has the port's tags; their identifiers only, for priorities and the tags'
// protocol identifiers are the sender's choice. A tag that says a priority only is none of a VLAN.
[[nodiscard]] bool is_right_vlan(const net::VlanTags& tags, const net::VlanTags& wanted);

}  // namespace roost::l3
