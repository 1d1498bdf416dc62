#include "roost/l3/admission.h"

#include <array>
#include <cstring>

#include "roost/net/headers.h"
#include "roost/net/l4_checksum.h"
#include "roost/net/martian.h"
#include "roost/net/parse_cause.h"
#include "roost/net/rewrite.h"

namespace roost::l3 {

namespace {

bool is_for_us(const net::Packet& packet, const AdmissionRules& rules) {
  const net::MacAddress& own = rules.interface->mac;
  if (std::memcmp(packet.data + net::ethernet::kDestination, &own, sizeof own) == 0) return true;
  return rules.promiscuous && !net::read_macs(packet).destination.is_multicast();
}

template <class Address>
bool has_martian_address(const uint8_t* source, const uint8_t* destination) {
  std::array<Address, 2> ends;
  std::memcpy(&ends[0], source, sizeof(Address));
  std::memcpy(&ends[1], destination, sizeof(Address));
  return net::has_martian_address(ends[0], ends[1]);
}

}  // namespace

bool is_martian(const net::Packet& packet, const net::ParsedPacket& parsed) {
  const uint8_t* ip = packet.data + parsed.ip_offset;
  return parsed.is_ipv6 ? has_martian_address<net::Ipv6Address>(ip + net::ipv6::kSource,
                                                                ip + net::ipv6::kDestination)
                        : has_martian_address<net::Ipv4Address>(ip + net::ipv4::kSource,
                                                                ip + net::ipv4::kDestination);
}

bool is_right_vlan(const net::VlanTags& tags, const net::VlanTags& wanted) {
  if (wanted.count == 0 && tags.is_priority_only()) return true;
  if (tags.count != wanted.count) return false;
  for (size_t i = 0; i < tags.count; ++i) {
    if (tags.tags[i].identifier() != wanted.tags[i].identifier()) return false;
  }
  return true;
}

std::optional<net::DropCause> refuse_transit(const net::Packet& packet,
                                             const net::ParsedPacket& parsed) {
  if (is_martian(packet, parsed)) return net::DropCause::kMartian;
  if (parsed.ttl <= 1) return net::DropCause::kTtlExpired;
  return {};
}

std::optional<net::DropCause> admit(const net::Packet& packet, const AdmissionRules& rules,
                                    net::ParsedPacket& parsed) {
  const std::optional<net::DropCause> parse_cause = net::drop_cause_of(net::parse(packet, parsed));
  // Without these two nothing of the frame can be relied on, its addresses included.
  if (parse_cause == net::DropCause::kTruncated || parse_cause == net::DropCause::kSplitHeaders) {
    return parse_cause;
  }
  if (!is_for_us(packet, rules)) return net::DropCause::kNotForUs;
  if (!is_right_vlan(parsed.vlan, rules.interface->vlan)) return net::DropCause::kWrongVlan;
  if (parse_cause) return parse_cause;
  if (const auto cause = refuse_transit(packet, parsed)) return cause;
  if (rules.verify_l4_checksum && !parsed.fragment.is_one() &&
      net::verify_l4_checksum(packet, parsed) == net::L4ChecksumVerdict::kWrong) {
    return net::DropCause::kBadL4Checksum;
  }
  return {};
}

}  // namespace roost::l3
