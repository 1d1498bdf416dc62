// A point on every machine of a sweep, several at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "sim/parameter_sweep.h"

namespace roost::halo {

// What simulate(parameters) gives of each machine, in their order: a Result<Figures>. Machine i is
// thread i modulo `threads`'s: machines share nothing, and the figures are the same however many
// threads there are. Errors: of the first machine that has one, behind `name`.
template <class Figures, class Simulate>
Result<std::vector<Figures>> on_machines(const sim::ParameterSweep& sweep, uint32_t threads,
                                         std::string_view name, Simulate&& simulate) {
  std::vector<Result<Figures>> points(sweep.machines().size(), Error{"not run"});
  std::vector<std::thread> workers;
  for (uint32_t first = 0; first < threads; ++first) {
    workers.emplace_back([&, first] {
      for (size_t i = first; i < points.size(); i += threads)
        points[i] = simulate(sweep.machines()[i]);
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::vector<Figures> figures;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!points[i]) {
      return Error{std::string(name) + ", machine " + std::to_string(i) + ": " +
                   points[i].error().message};
    }
    figures.push_back(std::move(points[i]).value());
  }
  return figures;
}

}  // namespace roost::halo
