#include "sim/machine.h"

#include <algorithm>
#include <string>
#include <vector>

namespace roost::sim {

Core& Machine::start(Tile tile, Program& program) {
  std::erase_if(cores_, [](const auto& core) { return core->is_done(); });
  return *cores_.emplace_back(std::make_unique<Core>(memory_, tile, &accelerators_, program));
}

const CoreThreads& Machine::start_threads(Tile tile, std::span<Program* const> programs) {
  return *shared_cores_.emplace_back(
      std::make_unique<CoreThreads>(memory_, tile, &accelerators_, programs));
}

Result<Cycle> Machine::run(Cycle cycles_max) {
  const Cycle last = events_.now() + cycles_max;
  while (events_.run_cycle(last)) {
  }
  Cycle ended = 0;
  std::string waiting;
  const auto look_at = [&](const Core& core) {
    ended = std::max(ended, core.last_cycle());
    if (!core.is_done()) waiting += core.state_in_words() + "\n";
  };
  for (const auto& core : cores_) look_at(*core);
  for (const auto& shared : shared_cores_)
    for (const Core& thread : shared->threads()) look_at(thread);
  if (waiting.empty() && events_.empty()) return ended;
  const std::string why = events_.empty() ? "nothing moves any more"
                                          : std::to_string(cycles_max) + " cycles have passed";
  return Error{"the simulation stopped in cycle " + std::to_string(events_.now()) + ": " + why +
               "\n" + waiting + accelerators_.state_in_words()};
}

}  // namespace roost::sim
