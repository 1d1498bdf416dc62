#include "tests/lb/test_icmp.h"

#include <algorithm>

#include "tests/lb/frame_bytes.h"

namespace roost::lb {

namespace {

constexpr size_t kEthernetBytes = 14;

}  // namespace

Bytes make_icmp_error(const IcmpSpec& spec, std::span<const uint8_t> about, size_t embedded_bytes) {
  const net::IpAddress source = net::IpAddress::parse(spec.source).value();
  const net::IpAddress destination = net::IpAddress::parse(spec.destination).value();
  const bool is_ipv6 = source.is_ipv6();
  const auto packet = about.subspan(kEthernetBytes);
  Bytes message = {spec.type, spec.code, 0, 0};
  put16(message, spec.rest >> 16);
  put16(message, spec.rest & 0xffff);
  put(message, packet.first(std::min(embedded_bytes, packet.size())));
  Bytes covered;
  if (is_ipv6) {
    put_address(covered, source);
    put_address(covered, destination);
    put16(covered, 58);
    put16(covered, message.size());
  }
  put(covered, message);
  set16(message, 2, checksum_from_scratch(covered));

  Bytes frame;
  put(frame, net::MacAddress::parse(spec.destination_mac).value().bytes);
  put(frame, net::MacAddress::parse(spec.source_mac).value().bytes);
  put16(frame, is_ipv6 ? 0x86dd : 0x0800);
  Bytes header;
  if (is_ipv6) {
    header = {0x60, 0, 0, 0};
    put16(header, message.size());
    put(header, Bytes{58, spec.ttl});
  } else {
    header = {0x45, spec.type_of_service};
    put16(header, 20 + message.size());
    put(header, Bytes{0, 0, uint8_t(spec.may_be_cut ? 0 : 0x40), 0, spec.ttl, 1, 0, 0});
  }
  put_address(header, source);
  put_address(header, destination);
  if (!is_ipv6) set16(header, 10, checksum_from_scratch(header));
  put(frame, header);
  put(frame, message);
  return frame;
}

}  // namespace roost::lb
