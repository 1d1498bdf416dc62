// The ICMP errors that the balancer itself sends: to the senders of packets that are too big for
// the way out, or whose hops are used up. Two budgets, so that nobody who sends packets without
// hops can silence what path MTU discovery lives on.
#pragma once

#include <cstdint>

#include "apps/lb/icmp_counters.h"
#include "apps/lb/next_hops.h"
#include "roost/expiry/token_bucket.h"
#include "roost/net/icmp_answer.h"
#include "roost/net/outbox.h"

namespace roost::lb {

// One worker's. What it is given must outlive it.
class IcmpAnswers {
 public:
  // At most a thousand of each kind a second, and in one tick.
  IcmpAnswers(const NextHops& next_hops, net::Outbox& outbox, double tick_seconds,
              IcmpAnswerCounters& counters);

  void advance(Tick now) { now_ = now; }

  // Answers a packet that is dropped, as it was received.
  void too_big(const net::Packet& packet, const net::ParsedPacket& parsed, uint16_t mtu) {
    send(packet, parsed, net::IcmpAnswer::Reason::kTooBig, mtu);
  }
  void time_exceeded(const net::Packet& packet, const net::ParsedPacket& parsed) {
    send(packet, parsed, net::IcmpAnswer::Reason::kTimeExceeded, 0);
  }

 private:
  void send(const net::Packet& packet, const net::ParsedPacket& parsed,
            net::IcmpAnswer::Reason reason, uint16_t mtu);

  const NextHops& next_hops_;
  net::Outbox& outbox_;
  TokenBucket too_big_budget_;
  TokenBucket time_exceeded_budget_;
  IcmpAnswerCounters& counters_;
  Tick now_{};
};

}  // namespace roost::lb
