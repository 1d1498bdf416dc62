// Which packets go on: those of connections, and those that rules allow.
//
//   fragments get their ports, or wait -> connection? -> it goes on, and so does an ICMP error
//   about one; else the rules -> allowed: a connection begins, if the packet can begin one
//                             -> denied, or rejected with an answer
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "apps/firewall/datapath/state.h"
#include "roost/conntrack/asked_lanes.h"
#include "roost/conntrack/tracked_packet.h"
#include "roost/expiry/tick.h"
#include "roost/l3/refusals.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::firewall {

// One worker's. What it is given must outlive it and stay where it is.
class Filter {
 public:
  Filter(State& state, l3::Refusals& refusals) : state_(state), refusals_(refusals) {}

  // Before the packets of a batch.
  void clear() {
    ipv4_.lanes.count = 0;
    ipv6_.lanes.count = 0;
  }
  // Gives a fragment and ICMP echo their ports, and asks for the packet's connection; false: it
  // does not go on, and is decided.
  [[nodiscard]] bool take(size_t lane, net::PacketBatch& batch, net::ParsedPacket& parsed);
  // The second half of it, of a packet that has its ports.
  template <class Address>
  void ask(size_t lane, const net::Packet& packet, const net::ParsedPacket& parsed);
  // Of the lanes of a family that take() let go on, or ask() has: those that are not allowed are
  // decided and taken out.
  template <class Address>
  void decide(net::LaneList& lanes, net::PacketBatch& batch, std::span<net::ParsedPacket> parsed,
              Tick now);

 private:
  static constexpr uint8_t kNotAsked = UINT8_MAX;

  // The packets that may have a connection, and what they say to it.
  template <class Address>
  struct Asked {
    conntrack::AskedLanes<Address> lanes;
    std::array<conntrack::TrackedPacket<Address>, net::kBatchLanesMax> packets;  // by place there
  };
  // Lanes without a connection, which the rules decide, and their places in Asked.
  struct Undecided {
    size_t count = 0;
    std::array<uint8_t, net::kBatchLanesMax> lanes;
    std::array<uint8_t, net::kBatchLanesMax> places;  // or kNotAsked
  };

  template <class Address>
  [[nodiscard]] Asked<Address>& asked() {
    if constexpr (net::FlowKey<Address>::kIsIpv6) {
      return ipv6_;
    } else {
      return ipv4_;
    }
  }
  template <class Address>
  [[nodiscard]] bool take_in(size_t lane, net::PacketBatch& batch, net::ParsedPacket& parsed);
  // Those that the rules do not allow are decided and taken out.
  template <class Address>
  void ask_rules(net::LaneList& lanes, const Undecided& undecided, net::PacketBatch& batch,
                 std::span<net::ParsedPacket> parsed, Tick now);
  // Of one of them: whether it goes on by the rule at `place`. `tracked`: null if it has no
  // connection.
  template <class Address>
  [[nodiscard]] bool apply_rule(uint32_t place, size_t lane,
                                const conntrack::TrackedPacket<Address>* tracked,
                                net::PacketBatch& batch, std::span<net::ParsedPacket> parsed,
                                Tick now);
  template <class Address>
  [[nodiscard]] bool begin_connection(size_t lane, const conntrack::TrackedPacket<Address>& packet,
                                      net::PacketBatch& batch);

  State& state_;
  l3::Refusals& refusals_;

  // Of the batch at hand.
  Asked<net::Ipv4Address> ipv4_;
  Asked<net::Ipv6Address> ipv6_;
};

}  // namespace roost::firewall
