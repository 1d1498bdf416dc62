// The observer's datapath: each frame is looked at and consumed, or dropped because it does not
// parse. It sends nothing: no verdict names a port, and the outbox stays empty.
#pragma once

#include <cstdint>

#include "roost/assets/observer.h"
#include "roost/conntrack/connection_addresses.h"
#include "roost/net/outbox.h"
#include "roost/node/flow_owner.h"

namespace roost::assets {

class Datapath {
 public:
  // The state must outlive the datapath and stay where it is. With several workers, both directions
  // of a UDP exchange meet at one; other frames are looked at where they come in.
  explicit Datapath(Observer& state, const node::FlowOwner& owner = node::FlowOwner({}))
      : state_(state), owner_(owner) {}

  // As for every function (roost/node/worker_loop.h).
  void process(net::PacketBatch& batch, Tick now) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      batch.verdicts()[lane] = decide(batch.packets()[lane], now);
    }
  }
  void idle(Tick, uint64_t) {}
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }

 private:
  net::LaneVerdict decide(const net::Packet& packet, Tick now) {
    net::ParsedPacket parsed;
    const net::ParseVerdict verdict = net::parse(packet, parsed);
    const FrameSource frame_source = read_frame_source(packet, parsed, verdict);
    if (owner_.is_shared() && frame_source.udp && packet.origin == net::PacketOrigin::kPort) {
      const size_t owner =
          conntrack::owner_of(owner_, conntrack::connection_addresses(packet, parsed));
      if (owner != owner_.worker()) return net::LaneVerdict::handoff(owner);
    }
    return state_.observe(packet, parsed, frame_source, now);
  }

  Observer& state_;
  node::FlowOwner owner_;
  net::Outbox outbox_{{.frame_count_max = 1, .bytes_max = 64}};
};

}  // namespace roost::assets
