// Solicitations and advertisements as frames, of ARP and of neighbour discovery, written into an
// outbox.
#pragma once

#include <cstdint>
#include <optional>

#include "roost/l3/interface_table.h"
#include "roost/net/address.h"
#include "roost/net/arp.h"
#include "roost/net/neighbour_discovery.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// A solicitation of this address, by unicast to one station, or to all. False when the port has no
// address of that family to send it from, or the outbox no room.
[[nodiscard]] bool send_solicitation(uint16_t port, const Interface& interface,
                                     const net::IpAddress& address,
                                     const std::optional<net::MacAddress>& only,
                                     net::Outbox& outbox);

// The advertisement in reply to a solicitation for an address of ours. False when the outbox has
// no room.
[[nodiscard]] bool send_advertisement(uint16_t port, const Interface& interface,
                                      const net::ArpMessage& request, net::Outbox& outbox);
[[nodiscard]] bool send_advertisement(uint16_t port, const Interface& interface,
                                      const net::NeighbourMessage& solicitation,
                                      const net::MacAddress& to, net::Outbox& outbox);

// An unsolicited advertisement of an address of ours to all: an ARP announcement for IPv4. False
// when the outbox has no room.
[[nodiscard]] bool send_unsolicited_advertisement(uint16_t port, const Interface& interface,
                                                  const net::IpAddress& address,
                                                  net::Outbox& outbox);

}  // namespace roost::l3
