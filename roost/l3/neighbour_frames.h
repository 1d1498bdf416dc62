// The frames of a neighbour's questions, answers and announcements, written into an outbox.
#pragma once

#include <cstdint>
#include <optional>

#include "roost/l3/interface_table.h"
#include "roost/net/address.h"
#include "roost/net/arp.h"
#include "roost/net/neighbour_discovery.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// Who has this address? Asks one station, or all. False when the port has no address of that family
// to ask from, or the outbox no room.
[[nodiscard]] bool send_question(uint16_t port, const Interface& interface,
                                 const net::IpAddress& address,
                                 const std::optional<net::MacAddress>& only, net::Outbox& outbox);

// Its target is ours. False when the outbox has no room.
[[nodiscard]] bool send_answer(uint16_t port, const Interface& interface,
                               const net::ArpMessage& request, net::Outbox& outbox);
[[nodiscard]] bool send_answer(uint16_t port, const Interface& interface,
                               const net::NeighbourMessage& solicitation, const net::MacAddress& to,
                               net::Outbox& outbox);

// Says to all that the address is ours, unasked. False when the outbox has no room.
[[nodiscard]] bool send_announcement(uint16_t port, const Interface& interface,
                                     const net::IpAddress& address, net::Outbox& outbox);

}  // namespace roost::l3
