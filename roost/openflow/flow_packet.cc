// Actions on a packet's bytes: see flow_packet.h.
#include "roost/openflow/flow_packet.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "roost/isa/crc32c.h"
#include "roost/net/address.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/headers.h"
#include "roost/net/rewrite.h"
#include "roost/openflow/flow_words.h"

namespace roost::openflow {

namespace {

using classify::Field;
using classify::FieldNumber;

constexpr size_t kSctpChecksum = 8;  // RFC 9260 section 3
constexpr size_t kIcmpv6Checksum = 2;
constexpr unsigned kDscpShift = 2;  // in IPv4's byte, behind it ECN

// OpenFlow counts from 1.
uint16_t open_flow_port(uint16_t port) { return static_cast<uint16_t>(port + 1); }

// RFC 9260 appendix A, over the whole chunk but its checksum, which counts as zero.
uint32_t sctp_checksum(const uint8_t* bytes, size_t count) {
  uint32_t crc = ~uint32_t{0};
  for (size_t i = 0; i < count; ++i) {
    const bool is_own = i >= kSctpChecksum && i < kSctpChecksum + sizeof crc;
    crc = crc32c_byte(crc, is_own ? uint8_t{0} : bytes[i]);
  }
  return ~crc;
}

void store_le32(uint8_t* at, uint32_t value) {
  for (size_t i = 0; i < sizeof value; ++i) at[i] = static_cast<uint8_t>(value >> 8 * i);
}
uint32_t load_le32(const uint8_t* at) {
  return uint32_t{at[0]} | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16 | uint32_t{at[3]} << 24;
}

}  // namespace

net::ParseVerdict FlowPacket::read(const net::Packet& packet) {
  // Of the caller's packet: what was written to it in parts a moment ago is slow to read as a
  // whole, and quick to read in the same parts.
  verdict_ = net::parse(packet, parsed_);
  if (classify::has_fields(verdict_)) {
    classify::read_fields(packet, parsed_, verdict_, open_flow_port(packet.in_port), fields_);
  }
  packet_ = packet;
  return verdict_;
}

// What a frame holds may be seen through another number of tags only, or not any more.
void FlowPacket::read_again() {
  const classify::PacketFields before = fields_;
  verdict_ = net::parse(packet_, parsed_);
  if (!classify::has_fields(verdict_)) return;
  classify::read_fields(packet_, parsed_, verdict_, open_flow_port(packet_.in_port), fields_);
  for (const Field field :
       {Field::kCtState, Field::kReg0, Field::kReg1, Field::kReg2, Field::kReg3}) {
    set(fields_, field, get(before, field));
  }
}

bool FlowPacket::has_l4_bytes(uint32_t bytes) const {
  return verdict_ != net::ParseVerdict::kNotIp && !parsed_.fragment.is_later() &&
         parsed_.l4_bytes >= bytes && parsed_.l4_offset + bytes <= packet_.contiguous_bytes;
}

bool FlowPacket::has_field(Field field) const {
  const bool is_ip = verdict_ != net::ParseVerdict::kNotIp;
  switch (field) {
    case Field::kIpv4Src:
    case Field::kIpv4Dst:
      return is_ip && !parsed_.is_ipv6;
    case Field::kIpv6Src:
    case Field::kIpv6Dst:
      return is_ip && parsed_.is_ipv6;
    case Field::kIpDscp:
      return is_ip;
    case Field::kTpSrc:
    case Field::kTpDst:
      return is_ip && has_ports(static_cast<uint8_t>(parsed_.protocol)) &&
             has_l4_bytes(net::udp::kHeaderBytes);
    case Field::kVlan:
      return parsed_.vlan.count != 0;
    default:
      return true;
  }
}

void FlowPacket::set_field(const SetField& action) {
  if (!has_field(action.field)) return;
  const FieldNumber before = get(fields_, action.field);
  const FieldNumber after = {(before.high & ~action.mask.high) | action.number.high,
                             (before.low & ~action.mask.low) | action.number.low};
  if (after == before) return;
  if (!is_register(action.field)) write_bytes(action.field, after);
  set(fields_, action.field, after);
}

void FlowPacket::write_bytes(Field field, FieldNumber number) {
  switch (field) {
    case Field::kEthSrc:
      return write_mac(net::ethernet::kSource, number);
    case Field::kEthDst:
      return write_mac(net::ethernet::kDestination, number);
    case Field::kIpv4Src:
      return write_address<net::Ipv4Address>(net::ipv4::kSource, number);
    case Field::kIpv4Dst:
      return write_address<net::Ipv4Address>(net::ipv4::kDestination, number);
    case Field::kIpv6Src:
      return write_address<net::Ipv6Address>(net::ipv6::kSource, number);
    case Field::kIpv6Dst:
      return write_address<net::Ipv6Address>(net::ipv6::kDestination, number);
    case Field::kTpSrc:
      return write_port(net::tcp::kSourcePort, static_cast<uint16_t>(number.low));
    case Field::kTpDst:
      return write_port(net::tcp::kDestinationPort, static_cast<uint16_t>(number.low));
    case Field::kIpDscp:
      return write_dscp(static_cast<uint8_t>(number.low));
    case Field::kVlan: {  // drop eligibility stays; its place says here that there is a tag
      uint16_t& control = parsed_.vlan.tags[0].control;
      control = static_cast<uint16_t>((control & classify::kVlanPresent) |
                                      (number.low & ~uint64_t{classify::kVlanPresent}));
      net::store_be16(packet_.data + net::ethernet::kAddressesBytes + 2, control);
      return;
    }
    default:
      return;  // no action sets another one (flow_words.h)
  }
}

void FlowPacket::write_mac(size_t offset, FieldNumber number) {
  std::ranges::copy(bytes_of<sizeof(net::MacAddress)>(number), packet_.data + offset);
}

// Covered by the IPv4 header's checksum, and through the pseudo header by those of TCP, UDP and
// ICMPv6.
template <class Address>
void FlowPacket::write_address(size_t offset, FieldNumber number) {
  uint8_t* ip = packet_.data + parsed_.ip_offset;
  Address before;
  std::memcpy(&before, ip + offset, sizeof before);
  const Address after{bytes_of<sizeof(Address)>(number)};
  net::ChecksumChange change;
  change.change(before, after);
  std::memcpy(ip + offset, &after, sizeof after);
  if (!parsed_.is_ipv6) net::detail::update_checksum(ip + net::ipv4::kChecksum, change);

  uint8_t* l4 = packet_.data + parsed_.l4_offset;
  const auto protocol = static_cast<uint8_t>(parsed_.protocol);
  const bool has_ports_and_sum = protocol == kTcp || protocol == kUdp;
  if (has_ports_and_sum && has_l4_bytes(net::udp::kHeaderBytes)) {
    net::detail::update_l4_checksum(l4, parsed_.protocol, change);
  } else if (parsed_.is_ipv6 && protocol == kIcmpv6 && has_l4_bytes(kIcmpv6Checksum + 2)) {
    net::detail::update_checksum(l4 + kIcmpv6Checksum, change);
  }
}

void FlowPacket::write_port(size_t offset, uint16_t port) {
  uint8_t* l4 = packet_.data + parsed_.l4_offset;
  uint8_t* at = l4 + offset;
  (offset == net::tcp::kSourcePort ? parsed_.source_port : parsed_.destination_port) = port;
  if (static_cast<uint8_t>(parsed_.protocol) != kSctp) {
    net::ChecksumChange change;
    change.change16(net::load_be16(at), port);
    net::store_be16(at, port);
    net::detail::update_l4_checksum(l4, parsed_.protocol, change);
    return;
  }
  // A wrong checksum stays wrong by as much, as far as all of the chunk is here.
  if (!has_l4_bytes(parsed_.l4_bytes) || parsed_.l4_bytes < kSctpChecksum + 4) {
    net::store_be16(at, port);
    return;
  }
  uint8_t* checksum = l4 + kSctpChecksum;
  const uint32_t error = load_le32(checksum) ^ sctp_checksum(l4, parsed_.l4_bytes);
  net::store_be16(at, port);
  store_le32(checksum, sctp_checksum(l4, parsed_.l4_bytes) ^ error);
}

void FlowPacket::write_dscp(uint8_t dscp) {
  uint8_t* ip = packet_.data + parsed_.ip_offset;
  const uint16_t before = net::load_be16(ip);
  if (parsed_.is_ipv6) {
    net::store_be16(ip, static_cast<uint16_t>((before & 0xf03f) | dscp << 6));
    return;
  }
  const auto after = static_cast<uint16_t>((before & 0xff03) | dscp << kDscpShift);
  net::ChecksumChange change;
  change.change16(before, after);
  net::store_be16(ip, after);
  net::detail::update_checksum(ip + net::ipv4::kChecksum, change);
}

bool FlowPacket::push_vlan(uint16_t eth_type) {
  net::VlanTags tags{.count = 1};
  tags.tags[0] = {.protocol_identifier = eth_type,
                  .control = parsed_.vlan.count == 0 ? uint16_t{0} : parsed_.vlan.tags[0].control};
  if (!net::edit_vlan_tags(packet_, 0, tags)) return false;
  read_again();
  return true;
}

void FlowPacket::pop_vlan() {
  if (parsed_.vlan.count == 0) return;
  const bool is_edited = net::edit_vlan_tags(packet_, 1, {});
  ROOST_DEBUG_ASSERT(is_edited);
  static_cast<void>(is_edited);
  read_again();
}

bool FlowPacket::decrement_ttl() {
  if (verdict_ == net::ParseVerdict::kNotIp) return true;
  if (parsed_.ttl <= 1) return false;
  net::decrement_ttl(packet_, parsed_);
  return true;
}

}  // namespace roost::openflow
