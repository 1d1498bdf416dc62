// Packets from the worker that received them to the worker that owns them.
//
// A ring for each pair of workers and direction: one giver, one taker, no lock. A packet is handed
// over at most once, because whoever takes it decides it; so no worker ever waits for another, and
// a full ring is a counted drop.
//
// Beside them, rings for copies of what every worker must see: neighbours' messages. A copy is
// bytes to learn from. It is never sent on, and in no sum of packets; a full ring loses it,
// counted.
//
// Over all workers, when all have closed and taken what was left: given = taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/io/packet_burst.h"

namespace roost::io {

// Of one worker, and written by it only.
struct HandOverCounters {
  uint64_t given = 0;         // packets to other workers
  uint64_t refused = 0;       // packets that no ring had room for, freed
  uint64_t taken = 0;         // packets from other workers
  uint64_t copies_given = 0;  // one for each worker that gets it
  uint64_t copies_lost = 0;   // no room in the ring, no buffer, or this worker has closed
  uint64_t copies_taken = 0;
};

struct HandOverRings;

// One worker's side: all it gives, and all that is given to it. Used by that worker only.
class alignas(64) HandOverDesk {
 public:
  HandOverDesk(HandOverRings& rings, size_t worker) : rings_(&rings), worker_(worker) {}

  [[nodiscard]] size_t worker() const { return worker_; }

  // The lanes whose verdict is another worker's leave the burst, in their order.
  void give(PacketBurst& burst);

  // Hands a copy of the lane to every other worker; the lane stays. After close() none is made,
  // because the others may have taken their last.
  void copy(const PacketBurst& burst, size_t lane);

  // Appends what others have given, packets and copies, as far as the burst has room; returns how
  // many.
  size_t take(PacketBurst& burst);

  // Says that this worker gives nothing any more, and waits until all workers have said so; each
  // must call it once. What take() finds empty afterwards stays empty.
  void close();

  [[nodiscard]] const HandOverCounters& counters() const { return counters_; }

 private:
  void give(std::span<rte_mbuf*> buffers, size_t taker);

  HandOverRings* rings_;
  size_t worker_;
  bool is_closed_ = false;
  size_t next_giver_ = 0;  // whose ring is looked at first, in turn
  HandOverCounters counters_;
};
static_assert(sizeof(HandOverDesk) == 128, "two cache lines of its own");

// All desks and rings of a run. Frees what the rings still hold.
class HandOver {
 public:
  struct Config {
    size_t worker_count = 1;
    uint32_t packets_max = 1'024;  // that wait in a ring
    uint32_t copies_max = 64;
  };

  // EAL must have started, and must end after this. Refused: memory that is not to be had.
  static Result<HandOver> create(const Config& config);

  HandOver(HandOver&&) noexcept;
  HandOver& operator=(HandOver&&) = delete;
  ~HandOver();

  [[nodiscard]] HandOverDesk& desk(size_t worker) { return desks_[worker]; }
  [[nodiscard]] const HandOverDesk& desk(size_t worker) const { return desks_[worker]; }
  [[nodiscard]] size_t worker_count() const { return desks_.size(); }

 private:
  explicit HandOver(std::unique_ptr<HandOverRings> rings);

  std::unique_ptr<HandOverRings> rings_;
  std::vector<HandOverDesk> desks_;
};

}  // namespace roost::io
