// Forwards frames by the value that a table has for their destination.
//
// The key is what a frame begins with, the first byte foremost: 48 bits are the MAC address of its
// destination, 64 that and the first two bytes of its source. A value is one of many next hops, of
// which each port has as many that follow each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lab/harness/value_contestant.h"
#include "lab/lb/flows.h"
#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/expiry/tick.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"

namespace roost::lab {

struct ForwardingPlan {
  unsigned key_bits = 48;  // or 64
  uint32_t value_bits = 16;
  uint16_t port_count = 1;

  [[nodiscard]] uint16_t port_of(uint32_t value) const {
    return static_cast<uint16_t>(uint64_t{value} * port_count >> value_bits);
  }
  // Of a key that tables have.
  [[nodiscard]] uint32_t value_of_key(uint64_t key) const {
    return value_of_word(mixed_word(key), value_bits);
  }

  [[nodiscard]] uint64_t key_of(const uint8_t* frame) const {
    const uint64_t first = net::load_be32(frame);
    return (first << 32 | net::load_be32(frame + sizeof(uint32_t))) >> (64 - key_bits);
  }
  // Without a tag, from a station that is nobody's but for what a key takes of its address.
  [[nodiscard]] Frame frame_to(uint64_t key) const {
    constexpr uint8_t kStationBits = 0b10;   // one station's, locally administered
    constexpr uint16_t kEtherType = 0x88B5;  // for experiments (IEEE 802)
    Frame frame{};
    frame[net::ethernet::kSource] = kStationBits;
    for (unsigned byte = 0; byte < key_bits / 8; ++byte)
      frame[byte] = static_cast<uint8_t>(key >> (key_bits - 8 * (byte + 1)));
    net::store_be16(&frame[net::ethernet::kAddressesBytes], kEtherType);
    return frame;
  }
};

// `Table`: lookup() as a value-only table has it, of a batch of frames at a time. A frame whose bit
// is cleared is dropped.
template <class Table>
class ValueForwarder {
 public:
  ValueForwarder(Table& table, const ForwardingPlan& plan) : table_(&table), plan_(plan) {}

  void process(net::PacketBatch& batch, Tick) {
    std::array<uint64_t, net::kBatchLanesMax> keys;
    std::array<uint32_t, net::kBatchLanesMax> values;
    HitArray<net::kBatchLanesMax> known;
    const size_t count = batch.lane_count();
    for (size_t lane = 0; lane < count; ++lane) {
      ROOST_DEBUG_ASSERT(batch.packets()[lane].contiguous_bytes >= net::ethernet::kAddressesBytes);
      keys[lane] = plan_.key_of(batch.packets()[lane].data);
    }
    table_->lookup(std::span<const uint64_t>(keys.data(), count), std::span(values), known);
    for (size_t lane = 0; lane < count; ++lane) {
      batch.verdicts()[lane] = known.test(lane)
                                   ? net::LaneVerdict::forward(plan_.port_of(values[lane]))
                                   : net::drop(net::DropCause::kNoRoute);
    }
  }
  void idle(Tick, uint64_t) {}
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }

 private:
  Table* table_;
  ForwardingPlan plan_;
  net::Outbox outbox_{{.frame_count_max = 1, .bytes_max = 64}};
};

// In place of a table: values by arithmetic, so that a frame costs what it costs beside the table.
class ComputedValues {
 public:
  explicit ComputedValues(const ForwardingPlan& plan) : plan_(plan) {}

  void lookup(std::span<const uint64_t> keys, std::span<uint32_t> values, HitWords known) const {
    known.clear(keys.size());
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      values[lane] = plan_.value_of_key(keys[lane]);
      known.set(lane);
    }
  }

 private:
  ForwardingPlan plan_;
};

}  // namespace roost::lab
