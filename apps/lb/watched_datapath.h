// The datapath with somebody looking over its shoulder: while there is a watch, packets are decided
// one by one, and those that its filter admits, as they came or as they leave, are copied into its
// ring. Without one, a branch a batch is all (docs/decisions/0012-trace-and-capture.md).
#pragma once

#include <cstdint>

#include "apps/lb/datapath.h"
#include "apps/lb/sighting.h"
#include "roost/concurrent/spsc_ring.h"
#include "roost/io/packet_filter.h"

namespace roost::lb {

// What one worker is watched for. The worker writes while it has the watch and until the reader
// closes the ring, one other thread reads it; the rest belongs to the worker until it has given the
// watch back.
struct Watch {
  struct Config {
    uint16_t worker = 0;
    size_t sightings_max = 1'024;  // in the ring
    // In a replay, time is the packets', in ticks since 1970, and the worker waits for room.
    bool is_replay = false;
    uint64_t tick_nanoseconds = 0;
  };

  Watch(const Config& watch_config, const io::PacketFilter& packet_filter)
      : config(watch_config), filter(packet_filter), ring(watch_config.sightings_max) {}

  Config config;
  const io::PacketFilter& filter;  // all workers' own
  SpscRing<Sighting> ring;
  Sighting spare{};            // for a packet that finds no room
  uint64_t packet_count = 0;   // seen
  uint64_t missed_count = 0;   // admitted, and no room
  uint64_t missed_unsaid = 0;  // of those, not in a sighting yet
};

class WatchedDatapath : public Datapath {
 public:
  // As for Datapath.
  explicit WatchedDatapath(State& state, const node::FlowOwner& owner = node::FlowOwner({}))
      : Datapath(state, owner), state_(state) {}

  // From the next batch on; null: no longer. Between two batches.
  void set_watch(Watch* watch) { watch_ = watch; }

  void process(net::PacketBatch& batch, Tick now) {
    if (watch_ == nullptr || watch_->ring.is_closed()) [[likely]] {
      Datapath::process(batch, now);
    } else {
      watch_each(batch, now);
    }
  }

  void idle(Tick now, uint64_t bucket_budget) {
    const size_t own_before = outbox().frame_count();
    Datapath::idle(now, bucket_budget);
    if (watch_ != nullptr && !watch_->ring.is_closed()) [[unlikely]]
      watch_own(own_before, now, false);
  }

 private:
  void watch_each(net::PacketBatch& batch, Tick now);
  void watch_one(net::PacketBatch& single, Tick now);
  void look(Sighting& sighting, Sighting::Flow& flow, bool is_before);
  template <class Address>
  void look_at(Family<Address>& family, const net::FlowKey<Address>& key, Sighting& sighting,
               Sighting::Flow& flow, bool is_before);
  void watch_own(size_t first_frame, Tick now, bool is_wanted);
  [[nodiscard]] Sighting& begin_sighting(Tick now);
  void end_sighting(Sighting& sighting, bool is_wanted);
  [[nodiscard]] bool admits(const Sighting::Form& form) const;

  State& state_;
  Watch* watch_ = nullptr;
};

}  // namespace roost::lb
