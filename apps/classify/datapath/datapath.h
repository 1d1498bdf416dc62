// The classifier's datapath: what the pipeline of flow tables decides, and whose connections are
// whose.
#pragma once

#include <cstdint>

#include "apps/classify/datapath/state.h"
#include "roost/conntrack/connection_addresses.h"
#include "roost/net/outbox.h"
#include "roost/node/flow_owner.h"

namespace roost::classifying {

class Datapath {
 public:
  // The state must outlive the datapath and stay where it is. Where connections are tracked, both
  // directions of each meet at one worker; else packets are decided where they come in.
  explicit Datapath(State& state, const node::FlowOwner& owner = node::FlowOwner({}))
      : state_(state),
        owner_(owner),
        hands_off_(owner.is_shared() && state.pipeline().tracker().has_value()) {}

  // As for every function (roost/node/worker_loop.h).
  void process(net::PacketBatch& batch, Tick now) {
    openflow::Pipeline& pipeline = state_.pipeline();
    pipeline.read(batch);
    if (hands_off_) hand_off(batch);
    pipeline.decide(batch, outbox_, now);
  }
  void idle(Tick now, uint64_t budget) { state_.pipeline().idle(now, budget); }
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }

 private:
  void hand_off(net::PacketBatch& batch) {
    openflow::Pipeline& pipeline = state_.pipeline();
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      if (batch.packets()[lane].origin != net::PacketOrigin::kPort) continue;
      const openflow::FlowPacket& packet = pipeline.packet(lane);
      const bool is_ip = packet.verdict() != net::ParseVerdict::kNotIp;
      if (!is_ip || !classify::has_fields(packet.verdict())) continue;
      const size_t owner = conntrack::owner_of(
          owner_, conntrack::connection_addresses(packet.packet(), packet.parsed()));
      if (owner == owner_.worker()) continue;
      batch.verdicts()[lane] = net::LaneVerdict::handoff(owner);
      pipeline.leave(lane);
    }
  }

  State& state_;
  node::FlowOwner owner_;
  bool hands_off_;
  net::Outbox outbox_;
};

}  // namespace roost::classifying
