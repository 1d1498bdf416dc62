// Packets for the function itself, which admission would drop: ARP, neighbour discovery, queries of
// multicast listener discovery, and echo requests for a local address.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "roost/base/counter.h"
#include "roost/expiry/tick.h"
#include "roost/l3/next_hops.h"
#include "roost/net/drop_cause.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::l3 {

struct LocalCounters {
  uint64_t echo_replies = 0;
};
inline constexpr std::array kLocalCounters = {
    Counter{"echo_replies", &LocalCounters::echo_replies,
            "echo requests for an own address, answered in place"}};
static_assert(lists_all(kLocalCounters));

class LocalDelivery {
 public:
  // All must outlive this object.
  LocalDelivery(NextHops& next_hops, net::Outbox& outbox, LocalCounters& counters)
      : next_hops_(next_hops), outbox_(outbox), counters_(counters) {}

  // Decides a packet that was not admitted for this cause; nothing when it is not for us.
  std::optional<net::LaneVerdict> decide(net::Packet& packet, net::ParsedPacket& parsed,
                                         net::DropCause cause, Tick now);

 private:
  [[nodiscard]] net::LaneVerdict receive_arp(const net::Packet& packet,
                                             const net::ParsedPacket& parsed, Tick now);
  [[nodiscard]] net::LaneVerdict receive_neighbour_message(const net::Packet& packet,
                                                           const net::ParsedPacket& parsed,
                                                           Tick now);
  [[nodiscard]] net::LaneVerdict receive_query(const net::Packet& packet,
                                               const net::ParsedPacket& parsed, Tick now);
  [[nodiscard]] net::LaneVerdict consume_message(uint16_t port, const net::IpAddress& about,
                                                 bool is_solicitation) const;

  NextHops& next_hops_;
  net::Outbox& outbox_;
  LocalCounters& counters_;
};

}  // namespace roost::l3
