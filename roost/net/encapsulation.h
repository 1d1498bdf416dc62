// Putting a packet into another one of its family, so that it reaches a host as it was sent: IP in
// IP (RFC 2003, RFC 2473), or generic UDP encapsulation (draft-ietf-intarea-gue-09, version 0
// without options), which routers spread by its source port.
//
//   | Ethernet | IP: balancer -> host | IP: client -> virtual address ...           kIpInIp
//   | Ethernet | IP: balancer -> host | UDP | GUE | IP: client -> virtual address ...    kGue
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/net/address.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

enum class Encapsulation : uint8_t { kIpInIp, kGue };

// Bytes that are put before the packet.
[[nodiscard]] size_t encapsulation_bytes(Encapsulation kind, bool is_ipv6);

template <class Address>
struct Tunnel {
  Encapsulation kind{};
  Address source{};
  Address destination{};
  uint16_t gue_port = 6'080;  // to which kGue goes
  // The same for all packets of a flow: the low 14 bits are in kGue's source port, all of it is
  // IPv6's flow label (RFC 6438).
  uint16_t flow_hash = 0;
  uint16_t identification = 0;  // of the outer IPv4 header
};

// Puts the outer headers before a packet that parsed as kOk or kFragment. The outer header takes
// over differentiated services, congestion notification (RFC 6040) and, of IPv4, "don't fragment";
// its time to live is 64. UDP has no checksum, which RFC 6936 allows tunnels over IPv6. Moves
// `packet.data` and with it lengths and headroom; `parsed` is of the inner packet as it was. False,
// and nothing changed, when the headroom is too small or the outer packet would be longer than its
// length field can say.
template <class Address>
[[nodiscard]] bool encapsulate(Packet& packet, const ParsedPacket& parsed,
                               const Tunnel<Address>& tunnel);

extern template bool encapsulate(Packet&, const ParsedPacket&, const Tunnel<Ipv4Address>&);
extern template bool encapsulate(Packet&, const ParsedPacket&, const Tunnel<Ipv6Address>&);

}  // namespace roost::net
