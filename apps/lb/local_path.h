// Packets for the balancer itself, which admission would drop: ARP, neighbour discovery, queries of
// multicast listener discovery, and echo requests for a virtual address or one of the ports'.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/lb/drop_cause.h"
#include "apps/lb/next_hops.h"
#include "roost/expiry/tick.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::lb {

class LocalPath {
 public:
  // All must outlive this object.
  LocalPath(NextHops& next_hops, net::Outbox& outbox, uint64_t& echo_replies)
      : next_hops_(next_hops), outbox_(outbox), echo_replies_(echo_replies) {}

  // Decides a packet that was not admitted for this cause; nothing when it is not for the balancer.
  std::optional<net::LaneVerdict> decide(net::Packet& packet, net::ParsedPacket& parsed,
                                         DropCause cause, Tick now);

 private:
  [[nodiscard]] net::LaneVerdict hear_arp(const net::Packet& packet,
                                          const net::ParsedPacket& parsed, Tick now);
  [[nodiscard]] net::LaneVerdict hear_neighbour_message(const net::Packet& packet,
                                                        const net::ParsedPacket& parsed, Tick now);
  [[nodiscard]] net::LaneVerdict hear_query(const net::Packet& packet,
                                            const net::ParsedPacket& parsed, Tick now);
  [[nodiscard]] net::LaneVerdict consume_news(uint16_t port, const net::IpAddress& about,
                                              bool is_question) const;

  NextHops& next_hops_;
  net::Outbox& outbox_;
  uint64_t& echo_replies_;
};

}  // namespace roost::lb
