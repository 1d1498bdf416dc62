// Where the packets of a connection meet, whichever end sent them.
#pragma once

#include <cstring>

#include "roost/net/address.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::conntrack {

// Both ends' addresses as one: the same for the packets of both directions, their fragments, and
// ICMP errors about them.
struct ConnectionAddresses {
  bool is_ipv6 = false;
  net::Ipv6Address mixed{};  // of IPv4, the first four bytes
};

// Of a packet that parsed as kOk, kFragment or kUnsupportedProtocol.
[[nodiscard]] ConnectionAddresses connection_addresses(const net::Packet& packet,
                                                       const net::ParsedPacket& parsed);

// The worker whose connection it is, by node::FlowOwner or its like.
template <class Owner>
[[nodiscard]] size_t owner_of(const Owner& owner, const ConnectionAddresses& addresses) {
  if (addresses.is_ipv6) return owner.owner_of(addresses.mixed);
  net::Ipv4Address address;
  std::memcpy(address.bytes.data(), addresses.mixed.bytes.data(), address.bytes.size());
  return owner.owner_of(address);
}

}  // namespace roost::conntrack
