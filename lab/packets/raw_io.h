// A network function that only moves packets: what they cost before any table is asked.
#pragma once

#include <cstdint>

#include "roost/expiry/tick.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"

namespace roost::lab {

// Sends each packet on, untouched: by its port, or by the other one of two.
class RawIo {
 public:
  explicit RawIo(size_t port_count = 1) : last_port_(static_cast<uint16_t>(port_count - 1)) {}

  void process(net::PacketBatch& batch, Tick) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const auto out_port = static_cast<uint16_t>(last_port_ - batch.packets()[lane].in_port);
      batch.verdicts()[lane] = net::LaneVerdict::forward(out_port);
    }
  }
  void idle(Tick, uint64_t) {}
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }

 private:
  uint16_t last_port_;
  net::Outbox outbox_;
};

}  // namespace roost::lab
