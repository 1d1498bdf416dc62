// Several capture ports as one stream of batches, in the order of the packets' timestamps.
//
// Simplest form: look at the first packet of every port that still has one, take the earliest,
// repeat. A port whose first packet is later waits; of equal timestamps the lower place in the list
// of sources goes first. Within a port the file's order is kept, whatever its timestamps say, and
// time never runs backwards: a packet stamped earlier than one already taken is taken at that one's
// time. So the same files give the same batches every time.
//
// A batch holds up to 32 packets of one tick (timestamp / tick length) and never spans two.
//
// net_pcap does not say when its file ends. A source ends when as many packets as its file holds
// are accounted for: delivered, or lost by the device because no buffer was free. It also ends when
// the device delivers nothing and reports no new loss either: the file changed after it was
// counted. Neither waits for time to pass.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/io/packet_burst.h"
#include "roost/io/port.h"

struct rte_mbuf;

namespace roost::io {

class CaptureMerge {
 public:
  struct Source {
    Port* port = nullptr;
    uint64_t packet_count = 0;  // whole packets of its file: capture::Summary::packet_count
  };

  // What became of a source's packets so far: packet_count = delivered + lost + missing once it has
  // ended.
  struct SourceReport {
    uint64_t delivered = 0;  // taken from the device, with those the merge still holds
    uint64_t lost = 0;       // no buffer, or broken lengths
    uint64_t missing = 0;    // counted in the file, never delivered
    bool has_ended = false;
  };

  // Ports must outlive the merge and must have been started; only it may receive from them. The
  // tick length must be positive. Refused when the devices do not stamp their packets.
  static Result<CaptureMerge> create(std::span<const Source> sources, uint64_t tick_microseconds);

  CaptureMerge(CaptureMerge&&) = default;
  CaptureMerge& operator=(CaptureMerge&&) = delete;
  ~CaptureMerge();  // frees what it still holds

  // Fills the burst, which must be empty, with the next packets and returns their tick; no value at
  // the end of all captures. Complexity: O(sources) a packet.
  [[nodiscard]] std::optional<Tick> next(PacketBurst& burst);

  // In the order of the sources.
  [[nodiscard]] SourceReport report(size_t source) const;

 private:
  // A source with the packets fetched from it and not yet delivered.
  struct Queue {
    Port* port;
    uint64_t packet_count;
    uint64_t delivered = 0;
    uint64_t lost = 0;
    bool has_ended = false;
    size_t head = 0;
    size_t count = 0;
    std::array<rte_mbuf*, net::kBatchLanesMax> buffers = {};
  };

  CaptureMerge(uint64_t tick_microseconds, size_t timestamp_offset)
      : tick_microseconds_(tick_microseconds), timestamp_offset_(timestamp_offset) {}
  static void refill(Queue& queue);
  Queue* earliest();
  uint64_t head_timestamp_us(const Queue& queue) const;

  uint64_t tick_microseconds_;
  size_t timestamp_offset_;  // where DPDK keeps the timestamp in a buffer
  uint64_t now_us_ = 0;
  std::vector<Queue> queues_;
};

}  // namespace roost::io
