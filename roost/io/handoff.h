// Packets from the worker that received them to the worker that owns them.
//
// A ring for each pair of workers and direction: one producer, one consumer, no lock. No worker
// ever waits for another: a full ring is a counted drop, and so is what a worker would hand off
// that has closed. The worker that dequeues a packet decides it, or, where two workers have a part
// in it, does its part and hands it off once more.
//
// Beside them, rings for copies of what every worker must see: neighbours' messages. A copy is
// bytes to learn from. It is never sent on, and in no sum of packets; a full ring loses it,
// counted.
//
// Over all workers, when all have closed and dequeued what was left: handoff_out = handoff_in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/io/counters.h"
#include "roost/io/packet_burst.h"

namespace roost::io {

struct HandoffRings;

// One worker's queues to and from all others. Used by that worker only.
class alignas(64) HandoffQueues {
 public:
  HandoffQueues(HandoffRings& rings, size_t worker) : rings_(&rings), worker_(worker) {}

  [[nodiscard]] size_t worker() const { return worker_; }

  // The lanes whose verdict is another worker's leave the burst, in their order. After close() they
  // are dropped, because the others may have dequeued their last.
  void enqueue(PacketBurst& burst);

  // Hands a copy of the lane to every other worker; the lane stays. After close() none is made,
  // because the others may have dequeued their last.
  void copy(const PacketBurst& burst, size_t lane);

  // Appends what others have enqueued, packets and copies, as far as the burst has room; returns
  // how many.
  size_t dequeue(PacketBurst& burst);

  // Enqueues again, after close(), if it goes on; all must.
  void open() { is_closed_ = false; }

  // This worker enqueues nothing any more; waits until that is true of all workers, each of
  // which must call it once. What dequeue() finds empty afterwards stays empty.
  void close();

  [[nodiscard]] const HandoffCounters& counters() const { return counters_; }

 private:
  void enqueue(std::span<rte_mbuf*> buffers, size_t target);

  HandoffRings* rings_;
  size_t worker_;
  bool is_closed_ = false;
  size_t next_source_ = 0;  // whose ring is looked at first, in turn
  HandoffCounters counters_;
};
static_assert(sizeof(HandoffQueues) == 128, "two cache lines of its own");

// All queues of a run. Frees what the rings still hold.
class Handoff {
 public:
  struct Config {
    size_t worker_count = 1;
    uint32_t packets_max = 1'024;  // that wait in a ring
    uint32_t copies_max = 64;
  };

  // EAL must have started, and must end after this. Refused: memory that cannot be allocated.
  static Result<Handoff> create(const Config& config);

  Handoff(Handoff&&) noexcept;
  Handoff& operator=(Handoff&&) = delete;
  ~Handoff();

  [[nodiscard]] HandoffQueues& queues(size_t worker) { return queues_[worker]; }
  [[nodiscard]] const HandoffQueues& queues(size_t worker) const { return queues_[worker]; }
  [[nodiscard]] size_t worker_count() const { return queues_.size(); }

 private:
  explicit Handoff(std::unique_ptr<HandoffRings> rings);

  std::unique_ptr<HandoffRings> rings_;
  std::vector<HandoffQueues> queues_;
};

}  // namespace roost::io
