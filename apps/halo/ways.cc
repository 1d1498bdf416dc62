#include "apps/halo/ways.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/halo/on_machines.h"

namespace roost::halo {

namespace {

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

bool is_wanted(const WayInfo& info, const Question& question, const WayOptions& options) {
  return info.goes_with(question.is_single) &&
         (options.ways.empty() || std::ranges::count(options.ways, info.name) != 0);
}

sim::LookupRun run_of(const WayInfo& info, const Question& question, const WayOptions& options) {
  return {.tables = tables_of(info, question),
          .trace = question.trace,
          .way = info.way,
          .software = info.is_software() ? cost_of(info, question) : nullptr,
          .is_cold = options.is_cold,
          .cores = options.cores,
          .warm_up = options.warm_up,
          .lookups = options.lookups,
          .cycles_max = options.cycles_max};
}

Result<std::vector<WayFigures>> run_ways(const sim::ParameterSweep& sweep, const Question& question,
                                         const WayOptions& options) {
  std::vector<WayFigures> ways;
  for (const WayInfo& info : kWays) {
    if (!is_wanted(info, question, options)) continue;
    const sim::LookupRun run = run_of(info, question, options);
    auto figures = on_machines<sim::LookupFigures>(
        sweep, options.threads, info.name,
        [&](const sim::Parameters& parameters) { return sim::run_lookups(parameters, run); });
    if (!figures) return figures.error();
    WayFigures& way = ways.emplace_back(WayFigures{.info = &info});
    way.figures = std::move(figures).value();
    for (const sim::LookupFigures& one : way.figures) way.rates.push_back(one.lookups_per_second);
    way.lookups_per_second = sweep.measure_of(way.rates);
  }
  return ways;
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
