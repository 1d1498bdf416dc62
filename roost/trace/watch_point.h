// Where a worker is watched: while there is a watch, packets are decided one by one, and those that
// its filter admits, as they came or as they leave, are copied into its ring.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/concurrent/spsc_ring.h"
#include "roost/expiry/tick.h"
#include "roost/io/packet_filter.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/trace/packet_trace.h"

namespace roost::trace {

// What one worker is watched for. The worker writes while it has the watch and until the reader
// closes the ring, one other thread reads it; the rest belongs to the worker until it has given the
// watch back.
struct Watch {
  struct Config {
    uint16_t worker = 0;
    size_t traces_max = 1'024;  // in the ring
    // In a replay, time is the packets', in ticks since 1970, and the worker waits for room.
    bool is_replay = false;
    uint64_t tick_nanoseconds = 0;
  };

  Watch(const Config& watch_config, const io::PacketFilter& packet_filter)
      : config(watch_config), filter(packet_filter), ring(watch_config.traces_max) {}

  Config config;
  const io::PacketFilter& filter;  // all workers' own
  SpscRing<PacketTrace> ring;
  PacketTrace overflow{};      // for a packet that finds no room in the ring
  uint64_t packet_count = 0;   // seen
  uint64_t missed_count = 0;   // admitted, and no room
  uint64_t missed_unsaid = 0;  // of those, not in a trace yet
};

// What watching is, whatever the function decides.
class WatchPoint {
 public:
  // From the next batch on; null: no longer. Between two batches.
  void set_watch(Watch* watch) { watch_ = watch; }

 protected:
  [[nodiscard]] bool is_watched() const { return watch_ != nullptr && !watch_->ring.is_closed(); }

  // A packet that is about to be decided: its record, as if new but for the bytes.
  [[nodiscard]] PacketTrace& begin_packet(const net::Packet& packet, Tick now);
  // It was decided, alone in its batch; `first_own` is the first frame of the outbox that was made
  // because of it.
  void end_packet(PacketTrace& trace, const net::PacketBatch& single, const net::Outbox& outbox,
                  size_t first_own, Tick now);
  // Frames of the outbox from `first_frame` on: those that the filter admits, or all.
  void watch_own(const net::Outbox& outbox, size_t first_frame, Tick now, bool is_wanted);

 private:
  [[nodiscard]] PacketTrace& begin_trace(Tick now);
  void end_trace(PacketTrace& trace, bool is_wanted);
  [[nodiscard]] bool admits(const PacketTrace::Form& form) const;

  Watch* watch_ = nullptr;
};

}  // namespace roost::trace
