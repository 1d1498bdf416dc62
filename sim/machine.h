// The simulated machine as a whole: memory, accelerators, and cores that run programs.
//
//   Machine machine(default_machine().at(Level::kMiddle));
//   const uint64_t table = put_table(machine.bytes(), 1 << 30, image).value();
//   machine.start(0, program);
//   const Result<Cycle> ended = machine.run();
//
// One thread a machine; machines share nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "sim/accelerator_array.h"
#include "sim/core.h"
#include "sim/core_threads.h"
#include "sim/event_queue.h"
#include "sim/memory_system.h"

namespace roost::sim {

class Machine {
 public:
  explicit Machine(const Parameters& parameters)
      : memory_(events_, parameters), accelerators_(memory_) {}

  [[nodiscard]] EventQueue& events() { return events_; }
  [[nodiscard]] MemorySystem& memory() { return memory_; }
  [[nodiscard]] SimulatedMemory& bytes() { return memory_.bytes(); }
  [[nodiscard]] AcceleratorArray& accelerators() { return accelerators_; }

  // Has a core run a program, which outlives the run, from the current cycle on. Several programs
  // of one core share its caches.
  Core& start(Tile tile, Program& program);

  // The same of several programs at a time, which share the core as its threads.
  const CoreThreads& start_threads(Tile tile, std::span<Program* const> programs);

  // Runs until all programs have ended and nothing is under way; the last cycle. Errors: nothing
  // moves any more, or `cycles_max` more cycles have passed: who waits for whom.
  [[nodiscard]] Result<Cycle> run(Cycle cycles_max = Cycle{1} << 40);

 private:
  EventQueue events_;
  MemorySystem memory_;
  AcceleratorArray accelerators_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::unique_ptr<CoreThreads>> shared_cores_;
};

}  // namespace roost::sim
