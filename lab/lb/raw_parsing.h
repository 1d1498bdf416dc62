// A network function that does less than a load balancer: what packets cost, with parsing, before
// any table is asked.
#pragma once

#include <cstdint>
#include <cstring>

#include "roost/expiry/tick.h"
#include "roost/net/flow_key.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::lab {

// Parses it, makes its key, and sends it on; drops what is no IPv4 flow's.
class RawIoAndParse {
 public:
  void process(net::PacketBatch& batch, Tick) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const net::Packet& packet = batch.packets()[lane];
      net::ParsedPacket parsed;
      if (net::parse(packet, parsed) != net::ParseVerdict::kOk || parsed.is_ipv6) continue;
      uint64_t words[2];
      const net::FlowKey4 key = net::FlowKey4::from_packet(packet, parsed);
      std::memcpy(words, &key, sizeof key);
      key_sum_ += words[0] + words[1];
      batch.verdicts()[lane] = net::LaneVerdict::forward(0);
    }
  }
  void idle(Tick, uint64_t) {}
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }

  // Of all keys, so that making them is not left out.
  [[nodiscard]] uint64_t key_sum() const { return key_sum_; }

 private:
  uint64_t key_sum_ = 0;
  net::Outbox outbox_;
};

}  // namespace roost::lab
