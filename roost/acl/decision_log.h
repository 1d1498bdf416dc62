// What rules with `log` decided, until the control thread fetches it: a bounded number of records,
// made at a bounded rate.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "roost/expiry/tick.h"
#include "roost/expiry/token_bucket.h"
#include "roost/net/address.h"
#include "roost/net/flow_key.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::acl {

struct DecisionRecord {
  uint32_t place = 0;  // of the rule
  uint16_t in_port = 0;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint8_t protocol = 0;
  uint32_t bytes = 0;
  net::IpAddress source{};
  net::IpAddress destination{};

  // Of a packet that has its ports.
  [[nodiscard]] static DecisionRecord of(uint32_t place, const net::Packet& packet,
                                         const net::ParsedPacket& parsed) {
    DecisionRecord record{.place = place,
                          .in_port = packet.in_port,
                          .source_port = parsed.source_port,
                          .destination_port = parsed.destination_port,
                          .protocol = static_cast<uint8_t>(parsed.protocol),
                          .bytes = packet.total_bytes};
    const auto take_ends = [&](const auto& key) {
      record.source = key.source;
      record.destination = key.destination;
    };
    if (parsed.is_ipv6) {
      take_ends(net::FlowKey6::from_packet(packet, parsed));
    } else {
      take_ends(net::FlowKey4::from_packet(packet, parsed));
    }
    return record;
  }
};

// One worker's.
class DecisionLog {
 public:
  static constexpr size_t kRecordsMax = 256;

  // At most so many a second, and as many at once.
  DecisionLog(uint64_t per_second, double tick_seconds)
      : is_used_(per_second != 0),
        budget_(TokenBucket::Config{
            .tokens_max = static_cast<uint32_t>(per_second),
            .tokens_per_step = static_cast<uint32_t>(per_second),
            .ticks_per_step = static_cast<uint32_t>(1 / tick_seconds < 1 ? 1 : 1 / tick_seconds)}) {
  }

  void add(const DecisionRecord& record, Tick now) {
    if (!is_used_ || count_ == kRecordsMax || !budget_.take(now)) {
      ++suppressed_;
      return;
    }
    records_[count_++] = record;
  }
  [[nodiscard]] std::span<const DecisionRecord> records() const {
    return std::span(records_).first(count_);
  }
  void clear() { count_ = 0; }
  // Decisions that should have been logged, and were too many.
  [[nodiscard]] uint64_t suppressed() const { return suppressed_; }

 private:
  bool is_used_;
  TokenBucket budget_;
  std::array<DecisionRecord, kRecordsMax> records_;
  size_t count_ = 0;
  uint64_t suppressed_ = 0;
};

}  // namespace roost::acl
