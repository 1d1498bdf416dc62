// What a router does with a batch of packets. No I/O, no allocation, time as an argument.
//
//   admission -> for the function itself: ARP, neighbour discovery, echo
//             -> what is to be forwarded; a function that decides on packets does it here
//             -> by family: longest prefix of the batch at once -> next hop -> neighbour, MTU
//             -> hop count, MACs -> verdict; else an ICMP error to the sender
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>

#include "roost/expiry/tick.h"
#include "roost/l3/egress.h"
#include "roost/l3/ingress.h"
#include "roost/l3/next_hops.h"
#include "roost/net/drop_cause.h"
#include "roost/net/packet_batch.h"
#include "roost/net/translation.h"
#include "roost/routing/routing_table.h"

namespace roost::routing {

// One worker's; each decides what it receives.
class Forwarder {
 public:
  // All must outlive this object and stay where they are.
  Forwarder(const l3::Ingress::Config& config, l3::NextHops& next_hops, WorkerRoutes& routes,
            l3::IcmpErrorCounters& errors, l3::LocalCounters& local);
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  // As for every function (roost/node/worker_loop.h). There must be a table of routes.
  void process(net::PacketBatch& batch, Tick now) {
    admit(batch, now);
    forward(batch, now);
  }
  // Its two parts. Between them a function may change the packets of lanes(), which are admitted
  // and have hops left, or decide them and take their lanes out.
  void admit(net::PacketBatch& batch, Tick now) {
    admit(batch, now, [](size_t) { return true; });
  }
  // With the function's part of admission, goes_on(lane) of each of lanes(), as soon as it is
  // known: whatever it asks memory for comes while the packets behind it are read. False: it has
  // decided the lane, which is none of lanes().
  template <class GoesOn>
  void admit(net::PacketBatch& batch, Tick now, GoesOn&& goes_on) {
    ingress_.advance(now);
    ipv4_.clear();
    ipv6_.clear();
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      if (is_transit(lane, batch, now) && goes_on(lane)) {
        (parsed_[lane].is_ipv6 ? ipv6_ : ipv4_).push(lane);
      }
    }
  }
  void forward(net::PacketBatch& batch, Tick now) { forward(batch, now, {}); }
  // With `translations`, one a lane of the batch, packets of IPv4 are routed by the ends that they
  // will have, and get them once they have a way: an ICMP error before that is about what their
  // sender sent.
  void forward(net::PacketBatch& batch, Tick now, std::span<net::Translation> translations);
  // Whether what is forwarded counts as a next hop's. Not so frames that the function sends itself,
  // which are counted as such; one that has to wait for its neighbour does.
  void set_counting(bool is_counting) { is_counting_ = is_counting; }
  // Counts a packet that goes another way than by a route, if anything counts.
  void count_other(const net::Packet& packet) {
    if (!is_counting_) return;
    ++routes_.others.packets;
    routes_.others.bytes += packet.total_bytes;
  }
  template <class Address>
  [[nodiscard]] net::LaneList& lanes() {
    if constexpr (std::same_as<Address, net::Ipv4Address>) {
      return ipv4_;
    } else {
      return ipv6_;
    }
  }
  // By lane; of lanes() they hold. A packet of another protocol than TCP and UDP has no ports.
  [[nodiscard]] std::span<net::ParsedPacket> parsed() { return parsed_; }
  [[nodiscard]] l3::Ingress& ingress() { return ingress_; }
  void idle(Tick now, uint64_t budget) { ingress_.idle(now, budget); }
  [[nodiscard]] net::Outbox& outbox() { return ingress_.outbox(); }

 private:
  // Whether the packet is admitted; else it is decided.
  [[nodiscard]] bool is_transit(size_t lane, net::PacketBatch& batch, Tick now);
  template <class Address>
  void refuse_last_hop(size_t lane, net::PacketBatch& batch);
  void refuse(size_t lane, net::DropCause cause, net::PacketBatch& batch);
  template <class Address>
  void forward_lanes(l3::Egress<Address>& egress, net::PacketBatch& batch, Tick now,
                     std::span<net::Translation> translations);
  template <class Address>
  net::LaneVerdict forward_one(const Address& destination, io::Fib::Hop hop, size_t lane,
                               l3::Egress<Address>& egress, net::PacketBatch& batch, Tick now,
                               net::Translation* translation);

  l3::NextHops& next_hops_;
  WorkerRoutes& routes_;
  l3::Ingress ingress_;
  l3::Egress<net::Ipv4Address> egress4_;
  l3::Egress<net::Ipv6Address> egress6_;

  // Of the batch at hand.
  std::array<net::ParsedPacket, net::kBatchLanesMax> parsed_;
  net::LaneList ipv4_;
  net::LaneList ipv6_;
  bool is_counting_ = true;
};

// All causes for which it, or the ports behind it, drop packets, in the order of reports.
inline constexpr std::array kForwarderDropCauses = {
    net::drop_cause_info(net::DropCause::kUndecided),
    net::drop_cause_info(net::DropCause::kTruncated),
    net::drop_cause_info(net::DropCause::kSplitHeaders),
    net::drop_cause_info(net::DropCause::kNotForUs),
    net::drop_cause_info(net::DropCause::kWrongVlan),
    net::drop_cause_info(net::DropCause::kNotIp),
    net::drop_cause_info(net::DropCause::kBadNeighbourMessage),
    net::drop_cause_info(net::DropCause::kBadHeader),
    net::drop_cause_info(net::DropCause::kBadChecksum),
    net::drop_cause_info(net::DropCause::kBadFragment),
    net::drop_cause_info(net::DropCause::kIpv4SourceRoute),
    net::drop_cause_info(net::DropCause::kIpv6RoutingHeader),
    net::drop_cause_info(net::DropCause::kTooManyExtensionHeaders),
    net::drop_cause_info(net::DropCause::kMartian),
    net::drop_cause_info(net::DropCause::kTtlExpired),
    net::drop_cause_info(net::DropCause::kNoRoute),
    net::drop_cause_info(net::DropCause::kNotServed),
    net::drop_cause_info(net::DropCause::kNoNeighbour),
    net::drop_cause_info(net::DropCause::kNeighbourFailed),
    net::drop_cause_info(net::DropCause::kNeighbourQueueFull),
    net::drop_cause_info(net::DropCause::kTooBig),
    net::drop_cause_info(net::DropCause::kNoHeadroom),
    net::drop_cause_info(net::DropCause::kTxRefused),
    net::drop_cause_info(net::DropCause::kNoBuffer),
    net::drop_cause_info(net::DropCause::kMalformed),
};

}  // namespace roost::routing
