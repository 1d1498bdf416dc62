// The firewall's datapath: what comes in is admitted, filtered, and forwarded by routes or to the
// other end of a wire.
#pragma once

#include <cstdint>

#include "apps/firewall/datapath/filter.h"
#include "apps/firewall/datapath/state.h"
#include "roost/node/flow_owner.h"
#include "roost/routing/forwarder.h"

namespace roost::firewall {

class Datapath {
 public:
  // The state must outlive the datapath and stay where it is. Both directions of a connection meet
  // at one worker; without connections packets are decided where they come in.
  explicit Datapath(State& state, const node::FlowOwner& owner = node::FlowOwner({}));

  // As for every function (roost/node/worker_loop.h).
  void process(net::PacketBatch& batch, Tick now);
  void idle(Tick now, uint64_t budget);
  [[nodiscard]] net::Outbox& outbox() { return forwarder_.outbox(); }

 private:
  void advance(Tick now);
  // What passes a wire without a look, or cannot pass, is decided.
  void admit_to_wire(net::PacketBatch& batch, Tick now);
  // Whether an admitted packet goes on: it is this worker's, and no fragment that waits.
  [[nodiscard]] bool goes_on(size_t lane, net::PacketBatch& batch);
  [[nodiscard]] bool is_link_frame(const net::Packet& packet, const net::ParsedPacket& parsed,
                                   net::ParseVerdict verdict) const;
  // Whether another worker gets it.
  [[nodiscard]] bool hand_off(size_t lane, net::PacketBatch& batch);
  template <class Address>
  void filter(net::PacketBatch& batch, Tick now);
  void forward(net::PacketBatch& batch, Tick now);
  void connect(size_t lane, net::PacketBatch& batch);
  // Fragments whose first one has come.
  template <class Address>
  void send_released(Tick now);

  State& state_;
  node::FlowOwner owner_;
  bool hands_off_;
  routing::Forwarder forwarder_;
  l3::Refusals refusals_;
  Filter filter_;
};

}  // namespace roost::firewall
