#include "apps/halo/ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <thread>
#include <utility>
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

// Costs of the tables that the way asks: of ours, by their layout.
const sim::SoftwareCost* cost_of(const WayInfo& info, const Question& question) {
  if (question.is_masked) return sim::software_cost(info.masked, question.key_bytes);
  const bool is_inline = info.is_own && question.is_inline;
  return sim::software_cost(is_inline ? "inline_32" : info.software, question.key_bytes);
}

const sim::RunTables& tables_of(const WayInfo& info, const Question& question) {
  if (!info.is_software()) return question.tables;
  return info.is_own ? question.own_tables : question.paper_tables;
}

}  // namespace

Result<std::vector<WayFigures>> run_ways(const sim::ParameterSweep& sweep, const Question& question,
                                         const WayOptions& options) {
  std::vector<WayFigures> figures;
  for (const WayInfo& info : kWays) {
    if (!info.goes_with(question.is_single)) continue;
    if (!options.ways.empty() && std::ranges::count(options.ways, info.name) == 0) continue;
    const sim::SoftwareCost* software = info.is_software() ? cost_of(info, question) : nullptr;
    const Points points = run_points(sweep,
                                     {.tables = tables_of(info, question),
                                      .trace = question.trace,
                                      .way = info.way,
                                      .software = software,
                                      .is_cold = options.is_cold,
                                      .cores = options.cores,
                                      .warm_up = options.warm_up,
                                      .lookups = options.lookups,
                                      .cycles_max = options.cycles_max},
                                     options.threads);
    WayFigures& found = figures.emplace_back(WayFigures{.info = &info});
    for (size_t i = 0; i < points.size(); ++i) {
      const Result<sim::LookupFigures>& point = points[i];
      if (!point)
        return Error{fmt::format("{}, machine {}: {}", info.name, i, point.error().message)};
      found.figures.push_back(point.value());
      found.rates.push_back(point.value().lookups_per_second);
    }
    found.lookups_per_second = sweep.measure_of(found.rates);
  }
  return figures;
}

std::vector<SpeedUp> speed_ups_of(const sim::ParameterSweep& sweep,
                                  const std::vector<WayFigures>& ways) {
  std::vector<SpeedUp> speed_ups;
  for (const WayFigures& way : ways) {
    for (const WayFigures& over : ways) {
      if (way.info->is_software() || !over.info->is_software()) continue;
      SpeedUp& one = speed_ups.emplace_back(SpeedUp{way.info, over.info});
      for (size_t i = 0; i < way.rates.size(); ++i)
        one.ratios.push_back(way.rates[i] / over.rates[i]);
      one.times = sweep.measure_of(one.ratios);
    }
  }
  return speed_ups;
}

}  // namespace roost::halo
