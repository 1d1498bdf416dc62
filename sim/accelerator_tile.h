// An accelerator in its place: beside a slice, between the mesh, memory and the distributor.
//
// What the accelerator offers in a cycle is taken in that cycle, and is on its way from the next
// one on. Memory's answers go in one a cycle, in the order in which they come. Cycles in
// which nothing can change are not simulated.
#pragma once

#include <cstdint>
#include <deque>

#include "sim/accelerator.h"
#include "sim/event_queue.h"
#include "sim/memory_system.h"

namespace roost::sim {

class AcceleratorArray;

// Time in the scoreboard, for Little's law.
struct ResidencyCounts {
  uint64_t place_cycles = 0;  // places in use, summed over cycles
  uint64_t busy_cycles = 0;   // cycles in which no place was free
  Cycle first_admitted = 0;
};

class AcceleratorTile final : public EventTarget {
 public:
  enum Message : uint32_t { kQuery, kTick };  // kQuery: argument: the query's token

  AcceleratorTile(MemorySystem& memory, AcceleratorArray& array, Tile tile);

  void handle(const Event& event) override;

  [[nodiscard]] const Accelerator& accelerator() const { return accelerator_; }
  [[nodiscard]] const ResidencyCounts& residency() const { return residency_; }
  // Clears the flow register at the end of the current cycle.
  void clear_flows();
  // Every cycle is simulated, whether anything can change or not.
  void tick_always() { ticks_always_ = true; }

 private:
  struct Reply {
    uint32_t identifier;
    uint64_t number;
  };

  void wake();
  void tick();
  void take_outputs();

  MemorySystem& memory_;
  AcceleratorArray& array_;
  Tile tile_;
  Accelerator accelerator_;
  std::deque<uint32_t> queries_;  // tokens of those that have arrived
  std::deque<Reply> replies_;
  std::deque<uint64_t> invalidations_;
  bool clears_flows_ = false;
  bool ticks_always_ = false;
  bool is_due_ = false;  // a tick is on its way
  Cycle counted_to_ = 0;
  ResidencyCounts residency_;
};

}  // namespace roost::sim
