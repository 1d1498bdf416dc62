// The switch's datapath: what bridge::Switching decides.
#pragma once

#include <cstdint>

#include "apps/switch/datapath/state.h"
#include "roost/net/outbox.h"
#include "roost/node/flow_owner.h"

namespace roost::switching {

class Datapath {
 public:
  // The state must outlive the datapath and stay where it is. Frames are nobody's: the worker that
  // receives one decides it.
  explicit Datapath(State& state, const node::FlowOwner& = node::FlowOwner({})) : state_(state) {}

  // As for every function (roost/node/worker_loop.h).
  using Started = bridge::Switching::Started;
  void start(net::PacketBatch& batch, Started& started) const {
    state_.switching().start(batch, started);
  }
  void finish(net::PacketBatch& batch, Started& started, Tick now) {
    state_.set_now(now);
    state_.switching().finish(batch, started, now);
  }
  void process(net::PacketBatch& batch, Tick now) {
    state_.set_now(now);
    state_.switching().process(batch, now);
  }
  void idle(Tick now, uint64_t budget) {
    state_.set_now(now);
    state_.switching().idle(now, budget);
  }
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }

 private:
  State& state_;
  net::Outbox outbox_{{.frame_count_max = 1, .bytes_max = 64}};  // nothing is sent by it
};

}  // namespace roost::switching
