// Generates frames field by field: see random_frame.h.
#include "tests/net/random_frame.h"

#include "roost/net/byte_order.h"
#include "roost/net/headers.h"

namespace roost::net {
namespace {

void append16(Bytes& bytes, size_t value) {
  bytes.push_back(static_cast<uint8_t>(value >> 8));
  bytes.push_back(static_cast<uint8_t>(value & 0xff));
}

void append_random(Bytes& bytes, size_t count, std::mt19937_64& random) {
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(random()));
}

Bytes random_transport(IpProtocol protocol, std::mt19937_64& random) {
  const size_t payload_bytes = random() % 301;
  Bytes l4;
  append_random(l4, 4, random);  // ports
  if (protocol == IpProtocol::kTcp) {
    const size_t option_bytes = 4 * (random() % 11);
    append_random(l4, 8, random);  // sequence and acknowledgement numbers
    l4.push_back(static_cast<uint8_t>((5 + option_bytes / 4) << 4));
    append_random(l4, 3, random);  // flags and window
    append16(l4, 0);
    append_random(l4, 2 + option_bytes, random);
  } else {
    append16(l4, udp::kHeaderBytes + payload_bytes);
    append16(l4, 0);
  }
  append_random(l4, payload_bytes, random);
  return l4;
}

Bytes random_ipv4(IpProtocol protocol, const Bytes& l4, std::mt19937_64& random) {
  const size_t option_bytes = 4 * (random() % 11);
  const size_t header_bytes = ipv4::kHeaderBytesMin + option_bytes;
  Bytes ip = {static_cast<uint8_t>(0x40 | (header_bytes / 4)), 0};
  append16(ip, header_bytes + l4.size());
  append_random(ip, 2, random);
  append16(ip, (random() & 1) * 0x4000);  // may be "don't fragment"
  ip.push_back(static_cast<uint8_t>(1 + random() % 255));
  ip.push_back(static_cast<uint8_t>(protocol));
  append16(ip, 0);
  append_random(ip, 8, random);
  ip.resize(header_bytes, ipv4::kOptionNoOperation);
  append(ip, l4);
  return ip;
}

Bytes random_ipv6(IpProtocol protocol, const Bytes& l4, std::mt19937_64& random) {
  const size_t extension_count = random() % 4;
  Bytes extensions;
  for (size_t i = 0; i < extension_count; ++i) {
    const size_t units = random() % 3;
    const bool is_last = i + 1 == extension_count;
    extensions.push_back(is_last ? static_cast<uint8_t>(protocol) : ipv6::kDestinationOptions);
    extensions.push_back(static_cast<uint8_t>(units));
    append_random(extensions, 6 + 8 * units, random);
  }
  Bytes ip = {0x60, 0, 0, 0};
  append16(ip, extensions.size() + l4.size());
  ip.push_back(extension_count == 0 ? static_cast<uint8_t>(protocol) : ipv6::kDestinationOptions);
  ip.push_back(static_cast<uint8_t>(1 + random() % 255));
  append_random(ip, 32, random);
  append(ip, extensions);
  append(ip, l4);
  return ip;
}

}  // namespace

std::vector<uint8_t> random_frame(std::mt19937_64& random) {
  const bool is_ipv6 = (random() & 1) != 0;
  const IpProtocol protocol = (random() & 1) != 0 ? IpProtocol::kTcp : IpProtocol::kUdp;
  const size_t vlan_count = random() % 3;
  Bytes frame;
  append_random(frame, ethernet::kAddressesBytes, random);
  for (size_t i = 0; i < vlan_count; ++i) {
    append16(frame, i == 0 && vlan_count == 2 ? vlan::kService : vlan::kCustomer);
    append_random(frame, 2, random);
  }
  append16(frame, is_ipv6 ? ethernet::kIpv6 : ethernet::kIpv4);

  const Bytes l4 = random_transport(protocol, random);
  append(frame, is_ipv6 ? random_ipv6(protocol, l4, random) : random_ipv4(protocol, l4, random));

  ParsedPacket layout;
  layout.is_ipv6 = is_ipv6;
  layout.protocol = protocol;
  layout.ip_offset = static_cast<uint16_t>(ethernet::kHeaderBytes + vlan_count * vlan::kTagBytes);
  layout.l4_offset = static_cast<uint16_t>(frame.size() - l4.size());
  layout.l4_bytes = static_cast<uint32_t>(l4.size());
  uint8_t* checksum = &frame[layout.l4_offset + udp::kChecksum];
  const bool has_no_checksum = protocol == IpProtocol::kUdp && !is_ipv6 && random() % 4 == 0;
  if (protocol == IpProtocol::kUdp && !has_no_checksum) store_be16(checksum, 1);  // to be computed
  recompute_checksums(frame, layout);

  if (random() % 4 == 0) append_random(frame, 1 + random() % 20, random);  // padding
  return frame;
}

uint16_t naive_checksum(std::span<const uint8_t> bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? uint32_t{bytes[i]} << 8 : uint32_t{bytes[i]};
    if (sum > 0xffff) sum = (sum & 0xffff) + 1;
  }
  return static_cast<uint16_t>(sum ^ 0xffff);
}

void recompute_checksums(std::span<uint8_t> frame, const ParsedPacket& parsed) {
  const std::span<uint8_t> ip = frame.subspan(parsed.ip_offset);
  if (!parsed.is_ipv6) {
    const size_t header_bytes = size_t{4} * (ip[0] & 15);
    store_be16(&ip[ipv4::kChecksum], 0);
    store_be16(&ip[ipv4::kChecksum], naive_checksum(ip.first(header_bytes)));
  }

  const bool is_udp = parsed.protocol == IpProtocol::kUdp;
  const std::span<uint8_t> l4 = frame.subspan(parsed.l4_offset, parsed.l4_bytes);
  uint8_t* field = &l4[is_udp ? udp::kChecksum : tcp::kChecksum];
  if (is_udp && !parsed.is_ipv6 && load_be16(field) == 0) return;
  store_be16(field, 0);
  Bytes summed;  // the pseudo header, then the segment or datagram
  append(summed, parsed.is_ipv6 ? ip.subspan(ipv6::kSource, 32) : ip.subspan(ipv4::kSource, 8));
  append16(summed, l4.size());
  append16(summed, static_cast<uint8_t>(parsed.protocol));
  append(summed, l4);
  const uint16_t checksum = naive_checksum(summed);
  store_be16(field, is_udp && checksum == 0 ? uint16_t{0xffff} : checksum);
}

}  // namespace roost::net
