#include "apps/lb/datapath.h"

#include "roost/base/assert.h"

namespace roost::lb {

Datapath::Datapath(State& state)
    : state_(state), ipv4_path_(state.ipv4(), state), ipv6_path_(state.ipv6(), state) {
  const Config& config = state.config();
  for (size_t port = 0; port < config.ports.size(); ++port) {
    rules_.push_back({.interface = &state.next_hops().interface(static_cast<uint16_t>(port)),
                      .promiscuous = config.ports[port].promiscuous,
                      .verify_l4_checksum = config.verify_l4_checksum});
  }
}

void Datapath::process(net::PacketBatch& batch, Tick now) {
  state_.advance(now);
  admit_all(batch);
  ipv4_path_.forward(ipv4_lanes_, batch, parsed_);
  ipv6_path_.forward(ipv6_lanes_, batch, parsed_);
}

void Datapath::idle(Tick now, uint64_t bucket_budget) {
  state_.advance(now);
  state_.maintain(bucket_budget);
}

// Drops what is not admitted and sorts the rest by family.
void Datapath::admit_all(net::PacketBatch& batch) {
  ipv4_lanes_.count = 0;
  ipv6_lanes_.count = 0;
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    const net::Packet& packet = batch.packets()[lane];
    ROOST_ASSERT(packet.in_port < rules_.size());
    net::ParsedPacket& parsed = parsed_[lane];
    parsed = {};
    if (const auto cause = admit(packet, rules_[packet.in_port], parsed)) {
      batch.verdicts()[lane] = net::LaneVerdict::drop(static_cast<uint8_t>(*cause));
    } else if (parsed.is_ipv6) {
      ipv6_lanes_.push(lane, net::FlowKey6::from_packet(packet, parsed));
    } else {
      ipv4_lanes_.push(lane, net::FlowKey4::from_packet(packet, parsed));
    }
  }
}

}  // namespace roost::lb
