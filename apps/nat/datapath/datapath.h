// The NAT's datapath: packets are admitted as a router's, translated, and routed by the ends that
// they get. It satisfies roost::node's NetworkFunction.
#pragma once

#include <cstdint>

#include "apps/nat/datapath/translator.h"
#include "roost/node/flow_owner.h"
#include "roost/routing/forwarder.h"

namespace roost::nat {

class Datapath {
 public:
  // The state must outlive the datapath and stay where it is.
  explicit Datapath(State& state, const node::FlowOwner& = node::FlowOwner({}));

  void process(net::PacketBatch& batch, Tick now);
  void idle(Tick now, uint64_t budget);
  [[nodiscard]] net::Outbox& outbox() { return forwarder_.outbox(); }

 private:
  void translate(net::PacketBatch& batch, bool was_released);
  void tell_if_refused(const net::Packet& packet, const net::ParsedPacket& parsed,
                       net::DropCause cause);
  void forward_released(net::PacketBatch& one, const net::ParsedPacket& parsed, Tick now);
  void advance(Tick now);

  State& state_;
  Translator translator_;
  routing::Forwarder forwarder_;
};

}  // namespace roost::nat
