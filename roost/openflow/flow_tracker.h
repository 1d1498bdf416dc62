// The connection tracker that the action `ct` asks: connections of both families, by the pair of
// their ends (conntrack/tracked_packet.h).
//
// What it says of a packet, as Linux says it: `new` of a connection that was not seen before or
// has not been answered, `est` once it has, `rpl` of what its server sends, `rel` of an ICMP error
// about it, `inv` of what it cannot tell: other ICMP messages, an RST without a connection, a
// fragment that comes before its first one, an echo reply without a request. A connection is kept
// from the first `commit` on.
//
// Threads: one worker's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "roost/base/result.h"
#include "roost/conntrack/connection_state.h"
#include "roost/conntrack/flow_counts.h"
#include "roost/conntrack/tracked_packet.h"
#include "roost/conntrack/tracker.h"
#include "roost/expiry/tick.h"
#include "roost/net/drop_cause.h"
#include "roost/openflow/flow_packet.h"

namespace roost::openflow {

class FlowTracker {
 public:
  struct Config {
    uint64_t connections = 0;  // of each family
    double tick_seconds = 1;
    std::optional<uint64_t> hash_seed{};
    conntrack::StateTimeouts timeouts{};
  };
  static Result<FlowTracker> create(const Config& config);

  // The bits of ct_state of a packet; nothing if it begins a connection that should be kept and no
  // place was found.
  [[nodiscard]] std::optional<uint8_t> track(const FlowPacket& packet, bool commits);

  void advance(Tick now);
  void maintain(uint64_t bucket_budget);
  // Reclaims what has expired, so that counts are exact. Linear in the capacity.
  void settle();

  [[nodiscard]] conntrack::FlowCounts counts();
  [[nodiscard]] conntrack::FragmentReport fragment_report();
  [[nodiscard]] uint64_t count_live();
  [[nodiscard]] uint64_t memory_bytes() const;
  [[nodiscard]] bool audit();

 private:
  template <class Address>
  using Family = conntrack::FamilyTracker<conntrack::SameEnds<Address>>;

  FlowTracker(const Config& config, Family<net::Ipv4Address> ipv4, Family<net::Ipv6Address> ipv6)
      : ipv4_(std::move(ipv4)), ipv6_(std::move(ipv6)), timeouts_(config.timeouts) {}

  [[nodiscard]] conntrack::Tracker<Family<net::Ipv4Address>, Family<net::Ipv6Address>> all() {
    return {ipv4_, ipv6_};
  }
  template <class Address>
  std::optional<uint8_t> track_in(Family<Address>& family, const FlowPacket& packet, bool commits);
  template <class Address>
  std::optional<uint8_t> track_match(Family<Address>& family,
                                     const conntrack::TrackedPacket<Address>& packet,
                                     const typename Family<Address>::Connections::Match& match,
                                     bool commits);

  Family<net::Ipv4Address> ipv4_;
  Family<net::Ipv6Address> ipv6_;
  conntrack::StateTimeouts timeouts_;
};

}  // namespace roost::openflow
