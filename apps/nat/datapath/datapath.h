// The NAT's datapath: packets are admitted as a router's, translated, and routed by the ends that
// they get. It satisfies roost::node's NetworkFunction. The definitions are in datapath_impl.h.
#pragma once

#include <cstdint>

#include "apps/nat/datapath/translator.h"
#include "roost/node/flow_owner.h"
#include "roost/routing/forwarder.h"

namespace roost::nat {

template <class Tables>
class BasicDatapath {
 public:
  // The state must outlive the datapath and stay where it is.
  explicit BasicDatapath(BasicState<Tables>& state, const node::FlowOwner& = node::FlowOwner({}));

  void process(net::PacketBatch& batch, Tick now);
  void idle(Tick now, uint64_t budget);
  [[nodiscard]] net::Outbox& outbox() { return forwarder_.outbox(); }

 private:
  void translate(net::PacketBatch& batch, bool was_released);
  void tell_if_refused(const net::Packet& packet, const net::ParsedPacket& parsed,
                       net::DropCause cause);
  void forward_released(net::PacketBatch& one, const net::ParsedPacket& parsed, Tick now);
  void advance(Tick now);

  BasicState<Tables>& state_;
  BasicTranslator<Tables> translator_;
  routing::Forwarder forwarder_;
};

using Datapath = BasicDatapath<conntrack::OwnTables>;
extern template class BasicDatapath<conntrack::OwnTables>;

}  // namespace roost::nat
