// The ICMP errors that are sent from here: to the senders of packets that are too big for
// the way out, whose hops are used up, whose destination cannot be reached, or which are refused.
//
// Each kind has a budget of its own, so that packets with an expired TTL cannot use up what path
// MTU discovery needs; and so has each destination of an error, so that a host that causes many
// cannot use up the others' (answer_budget.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "roost/l3/answer_budget.h"
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/next_hops.h"
#include "roost/net/icmp_answer.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// One worker's. What it is given must outlive it.
class IcmpErrors {
 public:
  IcmpErrors(const NextHops& next_hops, net::Outbox& outbox, double tick_seconds,
             uint64_t hash_seed, IcmpErrorCounters& counters);

  void advance(Tick now) { now_ = now; }

  // Answers a packet that is dropped, as it was received.
  void too_big(const net::Packet& packet, const net::ParsedPacket& parsed, uint16_t mtu) {
    send(packet, parsed, {.reason = net::IcmpAnswer::Reason::kTooBig, .mtu = mtu});
  }
  void time_exceeded(const net::Packet& packet, const net::ParsedPacket& parsed) {
    send(packet, parsed, {.reason = net::IcmpAnswer::Reason::kTimeExceeded});
  }
  // `reason`: one of the unreachable ones.
  void unreachable(const net::Packet& packet, const net::ParsedPacket& parsed,
                   net::IcmpAnswer::Reason reason) {
    send(packet, parsed, {.reason = reason});
  }
  // In the name of the packet's own destination, which does not serve its port (RFC 4443 section
  // 2.2 a).
  void port_unreachable(const net::Packet& packet, const net::ParsedPacket& parsed);

 private:
  // `answer`: its reason and MTU; and its source, else the port's address towards the sender.
  void send(const net::Packet& packet, const net::ParsedPacket& parsed, net::IcmpAnswer answer,
            std::optional<net::IpAddress> source = {});
  // The budget of a reason, and what counts its errors.
  [[nodiscard]] std::pair<AnswerBudget&, uint64_t&> kind_of(net::IcmpAnswer::Reason reason);

  const NextHops& next_hops_;
  net::Outbox& outbox_;
  AnswerBudget too_big_;
  AnswerBudget time_exceeded_;
  AnswerBudget unreachable_;
  IcmpErrorCounters& counters_;
  Tick now_{};
};

}  // namespace roost::l3
