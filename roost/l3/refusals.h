// Answers to packets for an address of ours that serves nobody at their port: TCP by a reset, what
// else there is by ICMP's port unreachable. Who is refused knows at once what silence would tell
// after many seconds.
//
// Resets have a budget of their own (answer_budget.h), so that a scan of ports does not make a
// flood of answers to whoever it pretends to be.
#pragma once

#include <array>
#include <cstdint>

#include "roost/base/counter.h"
#include "roost/l3/answer_budget.h"
#include "roost/l3/icmp_errors.h"
#include "roost/l3/next_hops.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// What each counts: kResetCounters.
struct ResetCounters {
  uint64_t sent = 0;
  uint64_t limited = 0;
  uint64_t unsendable = 0;
};

inline constexpr std::array kResetCounters = {
    Counter{"sent", &ResetCounters::sent,
            "TCP resets sent because nothing serves a segment's destination"},
    Counter{"limited", &ResetCounters::limited, "TCP resets not sent: too many of them"},
    Counter{"unsendable", &ResetCounters::unsendable,
            "TCP resets not sent: the rules forbid it, as to a reset or a fragment"}};
static_assert(lists_all(kResetCounters));

// One worker's. What it is given must outlive it.
class Refusals {
 public:
  Refusals(const NextHops& next_hops, net::Outbox& outbox, IcmpErrors& icmp_errors,
           double tick_seconds, uint64_t hash_seed, ResetCounters& counters)
      : next_hops_(next_hops),
        outbox_(outbox),
        icmp_errors_(icmp_errors),
        budget_(tick_seconds, hash_seed),
        counters_(counters) {}

  void advance(Tick now) { now_ = now; }

  // Answers a packet that is dropped, as it was received; nothing goes to an address of ours.
  void refuse(const net::Packet& packet, const net::ParsedPacket& parsed);

 private:
  void reset(const net::Packet& packet, const net::ParsedPacket& parsed,
             const net::IpAddress& destination);

  const NextHops& next_hops_;
  net::Outbox& outbox_;
  IcmpErrors& icmp_errors_;
  AnswerBudget budget_;
  ResetCounters& counters_;
  Tick now_{};
};

}  // namespace roost::l3
