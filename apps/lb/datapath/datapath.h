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
#include "roost/expiry/tick.h"
#include "roost/l3/ingress.h"
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

  // What is kept of a batch that was started; it must stay where it is.
  struct Started {
    template <class Address>
    struct FamilyStarted {
      FamilyLanes<Address> lanes;
      typename FamilyPath<Address, Tables>::Flight flight;
    };
    std::array<net::ParsedPacket, net::kBatchLanesMax> parsed;
    std::array<std::optional<DropCause>, net::kBatchLanesMax> causes;  // of admission
    bool has_fragments = false;
    FamilyStarted<net::Ipv4Address> ipv4;
    FamilyStarted<net::Ipv6Address> ipv6;
  };
  // Admits the packets, sorts them by owner and family, and asks for their connections' lines.
  void start(net::PacketBatch& batch, Started& started) const;
  // Decides every lane: forwarded, rewritten in place, dropped with a DropCause, consumed, or
  // handed off. Ports are numbered as in the configuration. `now` must not run backwards, over
  // this and idle().
  void finish(net::PacketBatch& batch, Started& started, Tick now);
  // Both at once.
  void process(net::PacketBatch& batch, Tick now) {
    Started started;
    start(batch, started);
    finish(batch, started, now);
  }

  // Reclaims expired connections, looking at no more than `bucket_budget` buckets, and solicits,
  // fails and removes neighbours that are due, at most as many.
  void idle(Tick now, uint64_t bucket_budget);

  // What the balancer sends of its own.
  [[nodiscard]] net::Outbox& outbox() { return ingress_.outbox(); }

 private:
  template <class Address>
  bool hand_off(size_t lane, net::PacketBatch& batch, const net::FlowKey<Address>& key,
                const Family<Address, Tables>& family) const;
  template <class Address>
  void sort(size_t lane, net::PacketBatch& batch, const net::ParsedPacket& parsed,
            const Family<Address, Tables>& family, FamilyLanes<Address>& lanes) const;
  template <class Address>
  void sort_fragment(size_t lane, net::PacketBatch& batch, net::ParsedPacket& parsed,
                     Family<Address, Tables>& family, FamilyLanes<Address>& lanes) const;
  void sort_with_fragments(net::PacketBatch& batch, Started& started) const;
  template <class Address>
  void send_released(Family<Address, Tables>& family, FamilyPath<Address, Tables>& path, Tick now);
  void refuse(size_t lane, DropCause cause, net::ParsedPacket& parsed, net::PacketBatch& batch,
              Tick now);

  BasicState<Tables>& state_;
  node::FlowOwner owner_;
  l3::Ingress ingress_;
  FamilyPath<net::Ipv4Address, Tables> ipv4_path_;
  FamilyPath<net::Ipv6Address, Tables> ipv6_path_;

  // ICMP messages of the batch at hand.
  std::array<uint8_t, net::kBatchLanesMax> icmp_lanes_{};
  size_t icmp_lane_count_ = 0;
};

using Datapath = BasicDatapath<conntrack::OwnTables>;

extern template class BasicDatapath<conntrack::OwnTables>;

}  // namespace roost::lb
