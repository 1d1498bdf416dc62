#include "apps/halo/ways.h"

#include <fmt/format.h>

#include <thread>
#include <vector>

namespace roost::halo {

namespace {

using Points = std::vector<Result<sim::LookupFigures>>;

// Machine i is thread i modulo threads's: machines share nothing, and the points are the same
// however many threads there are.
Points run_points(const sim::ParameterSweep& sweep, const sim::LookupRun& run, uint32_t threads) {
  Points points(sweep.machines().size(), Error{"not run"});
  std::vector<std::thread> workers;
  for (uint32_t first = 0; first < threads; ++first) {
    workers.emplace_back([&, first] {
      for (size_t i = first; i < points.size(); i += threads)
        points[i] = sim::run_lookups(sweep.machines()[i], run);
    });
  }
  for (std::thread& worker : workers) worker.join();
  return points;
}

}  // namespace

Result<std::vector<WayFigures>> run_ways(const sim::ParameterSweep& sweep, const Inputs& inputs,
                                         const WayOptions& options) {
  std::vector<WayFigures> figures;
  for (const WayInfo& info : kWays) {
    const Points points = run_points(sweep,
                                     {.image = inputs.image(),
                                      .trace = inputs.lookups(),
                                      .way = info.way,
                                      .cores = options.cores,
                                      .warm_up = options.warm_up,
                                      .lookups = options.lookups,
                                      .cycles_max = options.cycles_max},
                                     options.threads);
    std::vector<double> rates;
    for (size_t i = 0; i < points.size(); ++i) {
      const Result<sim::LookupFigures>& point = points[i];
      if (!point)
        return Error{fmt::format("{}, machine {}: {}", info.name, i, point.error().message)};
      rates.push_back(point.value().lookups_per_second);
    }
    figures.push_back({&info, points.front().value(), sweep.measure_of(rates)});
  }
  return figures;
}

}  // namespace roost::halo
