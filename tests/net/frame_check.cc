// The invariants of parse and rewrite over any frame: see frame_check.h.
#include "tests/net/frame_check.h"

#include <algorithm>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/flow_key.h"
#include "roost/net/l4_checksum.h"
#include "roost/net/martian.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"
#include "tests/net/random_frame.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

constexpr uint32_t kHeadroom = 8;  // two tags

size_t l4_header_bytes(const ParsedPacket& parsed) {
  return parsed.protocol == IpProtocol::kTcp ? tcp::kHeaderBytesMin : udp::kHeaderBytes;
}

void check_offsets(const Packet& packet, const ParsedPacket& parsed) {
  ROOST_ASSERT(parsed.vlan.count <= vlan::kTagsMax);
  ROOST_ASSERT(parsed.ip_offset == ethernet::kHeaderBytes + parsed.vlan.count * vlan::kTagBytes);
  ROOST_ASSERT(parsed.l4_offset >= parsed.ip_offset + ipv4::kHeaderBytesMin);
  ROOST_ASSERT(parsed.l4_offset + l4_header_bytes(parsed) <= packet.contiguous_bytes);
  ROOST_ASSERT(parsed.l4_bytes >= l4_header_bytes(parsed));
  ROOST_ASSERT(parsed.l4_offset + parsed.l4_bytes <= parsed.ip_offset + parsed.ip_bytes);
  ROOST_ASSERT(parsed.ip_offset + parsed.ip_bytes <= packet.total_bytes);
  ROOST_ASSERT(parsed.protocol == IpProtocol::kTcp || parsed.protocol == IpProtocol::kUdp);
}

void check_fragment(const Packet& packet, const ParsedPacket& parsed) {
  const Fragment& fragment = parsed.fragment;
  ROOST_ASSERT(fragment.is_one() && fragment.bytes > 0);
  ROOST_ASSERT(fragment.offset % 8 == 0 && (fragment.is_last || fragment.bytes % 8 == 0));
  ROOST_ASSERT(fragment.offset + fragment.bytes <= kIpBytesMax);
  const uint32_t ip_end = parsed.ip_offset + parsed.ip_bytes;
  ROOST_ASSERT(ip_end <= packet.total_bytes);
  if (fragment.is_later()) {
    ROOST_ASSERT(parsed.l4_offset + fragment.bytes == ip_end && parsed.l4_bytes == fragment.bytes);
    ROOST_ASSERT(parsed.source_port == 0 && parsed.destination_port == 0);
  } else {
    check_offsets(packet, parsed);
    ROOST_ASSERT(parsed.l4_bytes <= fragment.bytes);
  }
}

VlanTags wanted_tags(uint8_t count) {
  VlanTags wanted;
  wanted.count = count;
  if (count == 2) wanted.tags = {{{vlan::kService, 0x2345}, {vlan::kCustomer, 0x0678}}};
  if (count == 1) wanted.tags[0] = {vlan::kCustomer, 0x0678};
  return wanted;
}

// Bytes that no rewrite may touch: those between the first and the last rewritten header, and the
// payload. They are compared from the IP header on; fields that are rewritten are copied over
// first.
void check_untouched(std::vector<uint8_t> before, const ParsedPacket& parsed_before,
                     const std::vector<uint8_t>& after, const ParsedPacket& parsed_after) {
  const auto allow = [&](size_t ip_or_l4_before, size_t ip_or_l4_after, size_t field,
                         size_t bytes) {
    std::copy_n(after.begin() + static_cast<ptrdiff_t>(ip_or_l4_after + field), bytes,
                before.begin() + static_cast<ptrdiff_t>(ip_or_l4_before + field));
  };
  const auto allow_ip = [&](size_t field, size_t bytes) {
    allow(parsed_before.ip_offset, parsed_after.ip_offset, field, bytes);
  };
  const auto allow_l4 = [&](size_t field, size_t bytes) {
    allow(parsed_before.l4_offset, parsed_after.l4_offset, field, bytes);
  };
  if (parsed_before.is_ipv6) {
    allow_ip(ipv6::kHopLimit, 1);
    allow_ip(ipv6::kSource, 2 * sizeof(Ipv6Address));
  } else {
    allow_ip(ipv4::kTtl, 1);
    allow_ip(ipv4::kChecksum, 2);
    allow_ip(ipv4::kSource, 2 * sizeof(Ipv4Address));
  }
  allow_l4(tcp::kSourcePort, 4);
  allow_l4(parsed_before.protocol == IpProtocol::kTcp ? tcp::kChecksum : udp::kChecksum, 2);
  ROOST_ASSERT(std::equal(before.begin() + parsed_before.ip_offset, before.end(),
                          after.begin() + parsed_after.ip_offset, after.end()));
}

// The addresses and ports to rewrite to; any will do.
template <class Key>
Endpoint<typename Key::Address> some_endpoint() {
  Endpoint<typename Key::Address> endpoint;
  for (size_t i = 0; i < endpoint.address.bytes.size(); ++i) {
    endpoint.address.bytes[i] = static_cast<uint8_t>(0x5a + 37 * i);
  }
  endpoint.port = 0x1f90;
  return endpoint;
}

template <class Key>
void check_rewrites(TestFrame& frame, const ParsedPacket& parsed_before,
                    const FrameChoices& choices) {
  const std::vector<uint8_t> before = frame.bytes();
  const L4ChecksumVerdict checksum_before = verify_l4_checksum(frame.packet, parsed_before);
  Key key = Key::from_packet(frame.packet, parsed_before);
  ROOST_ASSERT(key.reversed().reversed() == key);
  ROOST_ASSERT(has_martian_address(key) == has_martian_address(key.reversed()));

  ParsedPacket parsed = parsed_before;
  const auto endpoint = some_endpoint<Key>();
  if (choices.rewrites_source) {
    rewrite_source(frame.packet, parsed, endpoint);
    key.source = endpoint.address;
    key.source_port = endpoint.port;
  } else {
    rewrite_destination(frame.packet, parsed, endpoint);
    key.destination = endpoint.address;
    key.destination_port = endpoint.port;
  }
  if (parsed.ttl > 0) decrement_ttl(frame.packet, parsed);
  const MacPair macs = {.source = {{2, 0, 0, 0, 0, 1}}, .destination = {{2, 0, 0, 0, 0, 2}}};
  rewrite_macs(frame.packet, macs);
  ROOST_ASSERT(rewrite_vlan_tags(frame.packet, parsed, wanted_tags(choices.vlan_count % 3)));

  ParsedPacket again;
  ROOST_ASSERT(parse(frame.packet, again) == ParseVerdict::kOk);
  check_offsets(frame.packet, again);
  ROOST_ASSERT(again == parsed);
  ROOST_ASSERT(again.vlan == wanted_tags(choices.vlan_count % 3));
  ROOST_ASSERT(again.ttl == (parsed_before.ttl == 0 ? 0 : parsed_before.ttl - 1));
  ROOST_ASSERT(Key::from_packet(frame.packet, again) == key);
  ROOST_ASSERT(read_macs(frame.packet).source == macs.source);
  ROOST_ASSERT(read_macs(frame.packet).destination == macs.destination);
  ROOST_ASSERT(verify_l4_checksum(frame.packet, again) == checksum_before);
  check_untouched(before, parsed_before, frame.bytes(), again);
}

// The frame with the right IPv4 header checksum, so that damaged headers are looked behind, too.
std::vector<uint8_t> with_right_checksum(std::span<const uint8_t> bytes, uint8_t vlan_count) {
  std::vector<uint8_t> repaired(bytes.begin(), bytes.end());
  const std::span<uint8_t> header =
      std::span(repaired).subspan(ethernet::kHeaderBytes + vlan_count * vlan::kTagBytes);
  const size_t header_bytes = size_t{4} * (header[ipv4::kVersionAndLength] & 15);
  store_be16(&header[ipv4::kChecksum], 0);
  store_be16(&header[ipv4::kChecksum], naive_checksum(header.first(header_bytes)));
  return repaired;
}

}  // namespace

bool check_frame(std::span<const uint8_t> bytes, const FrameChoices& choices) {
  const uint32_t total = static_cast<uint32_t>(bytes.size());
  const uint32_t contiguous = total - std::min<uint32_t>(total, choices.cut_bytes);
  TestFrame frame(bytes, {.headroom = kHeadroom, .contiguous_bytes = contiguous});
  ParsedPacket parsed;
  const ParseVerdict verdict = parse(frame.packet, parsed);
  ROOST_ASSERT(static_cast<size_t>(verdict) < kParseVerdictCount);
  ROOST_ASSERT(!parse_verdict_name(verdict).empty());
  ROOST_ASSERT(std::ranges::equal(frame.bytes(), bytes.first(contiguous)));
  if (verdict == ParseVerdict::kBadChecksum) {
    const std::vector<uint8_t> repaired = with_right_checksum(bytes, parsed.vlan.count);
    ROOST_ASSERT(parse(TestFrame(repaired).packet, parsed) != ParseVerdict::kBadChecksum);
    return check_frame(repaired, choices);
  }
  if (verdict == ParseVerdict::kFragment) check_fragment(frame.packet, parsed);
  if (verdict != ParseVerdict::kOk) return false;

  ROOST_ASSERT(parsed.fragment == Fragment());
  check_offsets(frame.packet, parsed);
  if (parsed.is_ipv6) {
    check_rewrites<FlowKey6>(frame, parsed, choices);
  } else {
    check_rewrites<FlowKey4>(frame, parsed, choices);
  }
  return true;
}

}  // namespace roost::net
