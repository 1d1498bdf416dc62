#include "tests/lb/test_packet.h"

#include <algorithm>

#include "tests/lb/frame_bytes.h"

namespace roost::lb {

namespace {

Bytes make_l4(const PacketSpec& spec, const net::IpAddress& source,
              const net::IpAddress& destination) {
  const bool is_tcp = spec.protocol == net::IpProtocol::kTcp;
  const size_t header_bytes = is_tcp ? 20 : 8;
  const size_t l4_bytes = header_bytes + spec.payload.size();
  Bytes l4;
  put16(l4, spec.source_port);
  put16(l4, spec.destination_port);
  if (is_tcp) {
    put32(l4, spec.sequence);
    put32(l4, spec.acknowledgement);
    put(l4, Bytes{0x50, spec.tcp_flags, 0x10, 0, 0, 0, 0, 0});
  } else {
    put16(l4, l4_bytes);
    put16(l4, 0);
  }
  put(l4, spec.payload);
  if (!is_tcp && !spec.has_udp_checksum) return l4;

  Bytes covered;
  put_address(covered, source);
  put_address(covered, destination);
  put16(covered, static_cast<uint8_t>(spec.protocol));
  put16(covered, l4_bytes);
  put(covered, l4);
  uint16_t sum = checksum_from_scratch(covered);
  if (!is_tcp && sum == 0) sum = 0xffff;
  set16(l4, is_tcp ? 16 : 6, sum);
  return l4;
}

void put_ipv4(Bytes& frame, const PacketSpec& spec, const net::IpAddress& source,
              const net::IpAddress& destination, size_t l4_bytes) {
  Bytes header = {0x45, 0};
  put16(header, 20 + l4_bytes);
  put(header, Bytes{0x12, 0x34, uint8_t(spec.may_be_cut ? 0 : 0x40), 0, spec.ttl,
                    static_cast<uint8_t>(spec.protocol), 0, 0});
  put_address(header, source);
  put_address(header, destination);
  set16(header, 10, checksum_from_scratch(header));
  put(frame, header);
}

void put_ipv6(Bytes& frame, const PacketSpec& spec, const net::IpAddress& source,
              const net::IpAddress& destination, size_t l4_bytes) {
  put(frame, Bytes{0x60, 0, 0, 0});
  put16(frame, l4_bytes);
  frame.push_back(static_cast<uint8_t>(spec.protocol));
  frame.push_back(spec.ttl);
  put_address(frame, source);
  put_address(frame, destination);
}

}  // namespace

// RFC 1071, literally.
uint16_t checksum_from_scratch(std::span<const uint8_t> bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    sum += uint32_t{bytes[i]} << 8;
    if (i + 1 < bytes.size()) sum += bytes[i + 1];
    if (sum > 0xffff) sum -= 0xffff;
  }
  return static_cast<uint16_t>(0xffff - sum);
}

void fix_ipv4_checksum(std::vector<uint8_t>& frame) {
  const size_t header_bytes = std::min(4 * size_t{frame[14] & 15U}, frame.size() - 14);
  set16(frame, 24, 0);
  set16(frame, 24, checksum_from_scratch(std::span(frame).subspan(14, header_bytes)));
}

std::vector<uint8_t> make_frame(const PacketSpec& spec) {
  const net::IpAddress source = net::IpAddress::parse(spec.source).value();
  const net::IpAddress destination = net::IpAddress::parse(spec.destination).value();
  Bytes frame;
  put(frame, net::MacAddress::parse(spec.destination_mac).value().bytes);
  put(frame, net::MacAddress::parse(spec.source_mac).value().bytes);
  for (size_t i = 0; i < spec.vlan.size(); ++i) {
    put16(frame, spec.vlan.size() >= 2 && i == 0 ? 0x88a8 : 0x8100);
    put16(frame, spec.vlan[i]);
  }
  put16(frame, source.is_ipv6() ? 0x86dd : 0x0800);
  const Bytes l4 = make_l4(spec, source, destination);
  if (source.is_ipv6()) {
    put_ipv6(frame, spec, source, destination, l4.size());
  } else {
    put_ipv4(frame, spec, source, destination, l4.size());
  }
  put(frame, l4);
  return frame;
}

PacketSpec udp(const std::string& source, uint16_t source_port, const std::string& destination,
               uint16_t destination_port) {
  PacketSpec spec;
  spec.source = source;
  spec.source_port = source_port;
  spec.destination = destination;
  spec.destination_port = destination_port;
  spec.protocol = net::IpProtocol::kUdp;
  return spec;
}

PacketSpec dns_query(uint16_t source_port) {
  return udp("192.0.2.10", source_port, "198.51.100.53", 53);
}

}  // namespace roost::lb
