// Which packets go on: those of connections, and those that rules allow.
//
//   fragments get their ports, or wait -> connection? -> it goes on, and so does an ICMP error
//   about one; else the rules -> allowed: a connection begins, if the packet can begin one
//                             -> denied, or rejected with an answer
#pragma once

#include <span>

#include "apps/firewall/datapath/state.h"
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

  // Gives fragments and ICMP echo their ports. Lanes that do not go on are decided and taken out.
  template <class Address>
  void complete(net::LaneList& lanes, net::PacketBatch& batch, std::span<net::ParsedPacket> parsed);
  // Likewise with what is not allowed. Packets have their ports.
  template <class Address>
  void decide(net::LaneList& lanes, net::PacketBatch& batch, std::span<net::ParsedPacket> parsed,
              Tick now);

 private:
  template <class Address>
  struct Lookups;

  // Lanes without a connection: those that the rules do not allow are decided and taken out.
  template <class Address>
  void ask_rules(net::LaneList& lanes, const Lookups<Address>& lookups, net::PacketBatch& batch,
                 std::span<net::ParsedPacket> parsed, Tick now);
  // Of one of them: whether it goes on by the rule at `place`.
  template <class Address>
  [[nodiscard]] bool apply_rule(uint32_t place, size_t lane, const Lookups<Address>& lookups,
                                net::PacketBatch& batch, std::span<net::ParsedPacket> parsed,
                                Tick now);
  template <class Address>
  [[nodiscard]] bool begin_connection(size_t lane, const conntrack::TrackedPacket<Address>& packet,
                                      net::PacketBatch& batch);
  void log(uint32_t place, const net::Packet& packet, const net::ParsedPacket& parsed, Tick now);

  State& state_;
  l3::Refusals& refusals_;
};

}  // namespace roost::firewall
