// The router's datapath: packets are forwarded by routes, or go to the other end of a wire.
#pragma once

#include <cstdint>

#include "apps/forward/datapath/state.h"
#include "roost/node/flow_owner.h"
#include "roost/routing/forwarder.h"

namespace roost::forward {

class Datapath {
 public:
  // The state must outlive the datapath and stay where it is.
  explicit Datapath(State& state, const node::FlowOwner& = node::FlowOwner({}))
      : state_(state),
        forwarder_({.ports = state.config().network.ports,
                    .tick_seconds = state.config().tick_seconds(),
                    .hash_seed = state.config().hash_seed},
                   state.next_hops(), state.routes(), state.icmp_errors(), state.local_counters()) {
  }

  // As for every function (roost/node/worker_loop.h).
  void process(net::PacketBatch& batch, Tick now) {
    if (state_.config().is_wire) {
      connect(batch);
    } else {
      forwarder_.process(batch, now);
    }
  }
  void idle(Tick now, uint64_t budget) { forwarder_.idle(now, budget); }
  [[nodiscard]] net::Outbox& outbox() { return forwarder_.outbox(); }

 private:
  // Whatever it is, it leaves by the other port as it came.
  void connect(net::PacketBatch& batch) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const net::Packet& packet = batch.packets()[lane];
      batch.verdicts()[lane] = net::LaneVerdict::forward(packet.in_port == 0 ? 1 : 0);
      forwarder_.count_other(packet);
    }
  }

  State& state_;
  routing::Forwarder forwarder_;
};

}  // namespace roost::forward
