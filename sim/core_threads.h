// Threads that share a core: its front end, its load ports and its way into L1D; the caches they
// share as programs of one tile do. Each is a Core of its own with its part of the window and of
// the queues (docs/decisions/0061).
//
//   turns   a cycle is one thread's, as far as entering goes: the next one's after that which had
//           the last such cycle, or else of one that has something to enter
//   ports   load_ports a cycle of all, in the order in which loads could execute
//   drains  one store a cycle of all, in the order in which they could be written
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>

#include "sim/core.h"
#include "sim/event_queue.h"
#include "sim/memory_system.h"
#include "sim/program.h"
#include "sim/query.h"
#include "sim/slot_calendar.h"

namespace roost::sim {

class CoreThreads final : public EventTarget {
 public:
  // A thread each, from the current cycle on; the programs outlive the threads.
  CoreThreads(MemorySystem& memory, Tile tile, QuerySink* accelerators,
              std::span<Program* const> programs);
  CoreThreads(const CoreThreads&) = delete;
  CoreThreads& operator=(const CoreThreads&) = delete;

  [[nodiscard]] const std::deque<Core>& threads() const { return threads_; }

  void handle(const Event& event) override;

  // For the threads. Something has changed: whoever may now enters.
  void take_turns();
  [[nodiscard]] LoadPorts& ports() { return ports_; }
  // The first cycle from `wanted` on in which no store is written, which is now taken.
  [[nodiscard]] Cycle take_drain(Cycle wanted) { return drains_.take(wanted); }

 private:
  static constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

  void have_turn();
  void wake_when_any_may_enter();

  MemorySystem& memory_;
  std::deque<Core> threads_;
  LoadPorts ports_;
  SlotCalendar drains_;
  size_t owner_ = 0;         // of the last cycle in which any entered
  Cycle owned_ = kNever;     // that cycle
  uint32_t slots_left_ = 0;  // instructions that the owner may enter in it
  Cycle wakes_at_ = kNever;
};

}  // namespace roost::sim
