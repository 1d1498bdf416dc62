// The load balancer's datapath: decides a batch of packets. No I/O, no allocation, time as an
// argument; it satisfies roost::node's NetworkFunction.
//
//   admission -> owner -> by family: lookup -> new connections -> rewrite -> verdicts
//             -> ICMP errors: owner -> lookup of the flow they are about -> rewrite -> verdicts
//             -> for the balancer itself: ARP, neighbour discovery, echo
//
// Of several workers each has a datapath and a state of its own, and decides only the flows it owns
// (steering.h); a packet of another's flow is handed off.
#pragma once

#include <array>
#include <cstdint>

#include "apps/lb/datapath/family_path.h"
#include "apps/lb/datapath/state.h"
#include "apps/lb/datapath/steering.h"
#include "roost/expiry/tick.h"
#include "roost/l3/ingress.h"
#include "roost/l3/refusals.h"
#include "roost/net/packet_batch.h"
#include "roost/node/flow_owner.h"

namespace roost::lb {

// `Tables`: see tables.h. The definitions are in datapath_impl.h.
template <class Tables>
class BasicDatapath {
 public:
  // The state must outlive the datapath and stay where it is. `owner`: of a worker that has others
  // beside it.
  explicit BasicDatapath(BasicState<Tables>& state,
                         const node::FlowOwner& owner = node::FlowOwner({}));
  BasicDatapath(const BasicDatapath&) = delete;
  BasicDatapath& operator=(const BasicDatapath&) = delete;

  // Decides every lane: forwarded, rewritten in place, dropped with a DropCause, consumed, or
  // handed off. Ports are numbered as in the configuration. `now` must not run backwards, over
  // both functions.
  void process(net::PacketBatch& batch, Tick now);

  // Reclaims expired connections, looking at no more than `bucket_budget` buckets, and solicits,
  // fails and removes neighbours that are due, at most as many.
  void idle(Tick now, uint64_t bucket_budget);

  // What the balancer sends of its own.
  [[nodiscard]] net::Outbox& outbox() { return ingress_.outbox(); }

 private:
  void admit_all(net::PacketBatch& batch, Tick now);
  // The fragments of a family whose first one was in the batch.
  template <class Address>
  void send_released(Family<Address, Tables>& family, Tick now);
  void forward_alone(net::PacketBatch& one, net::ParsedPacket& parsed, Tick now);
  void refuse(size_t lane, DropCause cause, net::PacketBatch& batch, Tick now);
  // `key`: the packet's, as the family has it. `fragments`: of the packet's own family.
  template <class Address, class Fragments>
  void sort(size_t lane, net::PacketBatch& batch, const net::FlowKey<Address>& key,
            Family<Address, Tables>& family, Fragments& fragments,
            conntrack::AskedLanes<Address>& lanes);
  void sort_ipv4(size_t lane, net::PacketBatch& batch);
  // Whether the packet is a connection's of the IPv6 tables, whatever its version.
  [[nodiscard]] bool is_for_ipv6(const net::Packet& packet, const net::ParsedPacket& parsed) const {
    return parsed.is_ipv6 || lb::is_for_ipv6(net::FlowKey4::from_packet(packet, parsed),
                                             state_.ipv6().connections().ports());
  }

  BasicState<Tables>& state_;
  node::FlowOwner owner_;
  l3::Ingress ingress_;
  l3::Refusals refusals_;
  FamilyPath<net::Ipv4Address, Tables> ipv4_path_;
  FamilyPath<net::Ipv6Address, Tables> ipv6_path_;

  // Of the batch at hand.
  std::array<net::ParsedPacket, net::kBatchLanesMax> parsed_;
  conntrack::AskedLanes<net::Ipv4Address> ipv4_lanes_;
  conntrack::AskedLanes<net::Ipv6Address> ipv6_lanes_;
  std::array<uint8_t, net::kBatchLanesMax> icmp_lanes_{};
  size_t icmp_lane_count_ = 0;
};

using Datapath = BasicDatapath<conntrack::OwnTables>;

extern template class BasicDatapath<conntrack::OwnTables>;

}  // namespace roost::lb
