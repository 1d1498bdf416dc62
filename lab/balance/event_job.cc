// Counts what a scenario breaks and moves: see balance_job.h.
#include <fmt/format.h>

#include <algorithm>

#include "lab/balance/balance_job.h"
#include "lab/balance/event_run.h"

namespace roost::lab {
namespace {

struct Figure {
  const char* metric;
  double value;
};

std::vector<Figure> figures_of(const EventFigures& found, bool is_by_counts) {
  std::vector<Figure> figures = {{"connections", static_cast<double>(found.connections)},
                                 {"live", static_cast<double>(found.live)},
                                 {"broken_moved", static_cast<double>(found.broken_moved)},
                                 {"broken_failed", static_cast<double>(found.broken_failed)},
                                 {"live_max_over_mean", found.live_max_over_mean},
                                 {"chooser_bytes", static_cast<double>(found.chooser_bytes)},
                                 {"table_bytes", static_cast<double>(found.table_bytes)}};
  if (is_by_counts) return figures;
  figures.push_back({"moved", found.moved});
  figures.push_back({"moved_min", found.moved_min});
  figures.push_back({"moved_needlessly", found.moved_needlessly});
  figures.push_back({"share_max_over_mean", found.share_max_over_mean});
  return figures;
}

RecordRow row_of(const EventJobConfig& config, const std::string& contestant, bool has_table) {
  RecordRow row;
  row.experiment = config.experiment;
  row.kind = "simulated";
  row.contestant = contestant;
  row.form = has_table ? "table" : "no table";
  row.workload = config.scenario;
  row.slots = config.backends;
  row.entries = config.connections;
  row.operations = config.probes;
  row.seed = config.seed;
  return row;
}

}  // namespace

Result<Rows> run_event_job(const EventJobConfig& config, const Progress& progress) {
  const std::vector<Scenario> all = scenarios(config.backends);
  const auto scenario = std::ranges::find(all, config.scenario, &Scenario::name);
  if (scenario == all.end()) return Error{"there is no scenario \"" + config.scenario + "\""};
  Rows rows;
  for (size_t i = 0; i < config.contestants.size(); ++i) {
    const std::string& name = config.contestants[i];
    const ChooserKind* kind = chooser_kind(name);
    if (kind == nullptr) return Error{"there is no algorithm \"" + name + "\""};
    for (const bool has_table : {false, true}) {
      progress(static_cast<double>(2 * i + (has_table ? 1 : 0)) /
                   static_cast<double>(2 * config.contestants.size()),
               name);
      RecordRow row = row_of(config, name, has_table);
      if (kind->is_by_counts && !has_table) {
        row.note = "not run: counts do not say where a connection was";
        rows.push_back(row);
        continue;
      }
      const Result<EventFigures> found = run_events({.kind = kind,
                                                     .scenario = &*scenario,
                                                     .has_table = has_table,
                                                     .backends = config.backends,
                                                     .connections = config.connections,
                                                     .probes = config.probes,
                                                     .seed = config.seed});
      if (!found) return found.error();
      for (const Figure& figure : figures_of(found.value(), kind->is_by_counts)) {
        row.metric = figure.metric;
        row.value = figure.value;
        rows.push_back(row);
      }
    }
  }
  return rows;
}

}  // namespace roost::lab
