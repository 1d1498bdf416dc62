#include "roost/conntrack/connection_addresses.h"

#include "roost/net/headers.h"
#include "roost/net/icmp_error.h"
#include "roost/net/l4_ports.h"

namespace roost::conntrack {

ConnectionAddresses connection_addresses(const net::Packet& packet,
                                         const net::ParsedPacket& parsed) {
  size_t ip_offset = parsed.ip_offset;
  net::IcmpError error;
  if (!net::is_tcp_or_udp(parsed.protocol) &&
      parse_icmp_error(packet, parsed, error) == net::IcmpVerdict::kError) {
    ip_offset = error.embedded_ip_offset;
  }
  ConnectionAddresses addresses{.is_ipv6 = parsed.is_ipv6};
  const uint8_t* ip = packet.data + ip_offset;
  const uint8_t* source = ip + (parsed.is_ipv6 ? net::ipv6::kSource : net::ipv4::kSource);
  const size_t bytes = parsed.is_ipv6 ? sizeof(net::Ipv6Address) : sizeof(net::Ipv4Address);
  for (size_t i = 0; i < bytes; ++i)
    addresses.mixed.bytes[i] = static_cast<uint8_t>(source[i] ^ source[bytes + i]);
  return addresses;
}

}  // namespace roost::conntrack
