// The ICMP errors that are sent from here: to the senders of packets that are too big for
// the way out, whose hops are used up, or whose destination cannot be reached.
//
// Each kind has a budget of its own, so that packets with an expired TTL cannot use up what path
// MTU discovery needs; and so has each destination of an error, so that a host that causes many
// cannot use up the others'. The latter are kept by a keyed hash of the address: that two share one
// is rare, and cannot be arranged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "roost/expiry/token_bucket.h"
#include "roost/hash/keyed_hash.h"
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/next_hops.h"
#include "roost/net/icmp_answer.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// One worker's. What it is given must outlive it.
class IcmpErrors {
 public:
  // At most a thousand of each kind a second, fifty of them to one address, and as many at once.
  IcmpErrors(const NextHops& next_hops, net::Outbox& outbox, double tick_seconds,
             uint64_t hash_seed, IcmpErrorCounters& counters);

  void advance(Tick now) { now_ = now; }

  // Answers a packet that is dropped, as it was received.
  void too_big(const net::Packet& packet, const net::ParsedPacket& parsed, uint16_t mtu) {
    send(packet, parsed, net::IcmpAnswer::Reason::kTooBig, mtu);
  }
  void time_exceeded(const net::Packet& packet, const net::ParsedPacket& parsed) {
    send(packet, parsed, net::IcmpAnswer::Reason::kTimeExceeded, 0);
  }
  // `reason`: one of the unreachable ones.
  void unreachable(const net::Packet& packet, const net::ParsedPacket& parsed,
                   net::IcmpAnswer::Reason reason) {
    send(packet, parsed, reason, 0);
  }

 private:
  void send(const net::Packet& packet, const net::ParsedPacket& parsed,
            net::IcmpAnswer::Reason reason, uint16_t mtu);

  const NextHops& next_hops_;
  net::Outbox& outbox_;
  struct Kind {
    TokenBucket all;
    std::vector<TokenBucket> by_destination;
  };
  static constexpr size_t kDestinations = 1'024;

  [[nodiscard]] static Kind make_kind(double tick_seconds);
  [[nodiscard]] bool may_send(Kind& kind, const net::IpAddress& destination);
  // The budget of a reason, and what counts its errors.
  [[nodiscard]] std::pair<Kind&, uint64_t&> kind_of(net::IcmpAnswer::Reason reason);

  Kind too_big_;
  Kind time_exceeded_;
  Kind unreachable_;
  KeyedHash hash_;
  IcmpErrorCounters& counters_;
  Tick now_{};
};

}  // namespace roost::l3
