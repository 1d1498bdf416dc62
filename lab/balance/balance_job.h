// The algorithms of roost/balance side by side.
//
//   run_event_job  counts what breaks and moves in a scenario, with and without a connection table
//   run_pick_job   times choices, one after the other, beside a loop without an algorithm
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/jobs/job.h"
#include "roost/base/result.h"

namespace roost::lab {

struct EventJobConfig {
  std::string experiment;
  std::vector<std::string> contestants;  // by name (lab/balance/chooser.h)
  std::string scenario;                  // by name (lab/balance/scenario.h)
  uint64_t backends = 0;
  uint64_t connections = 0;
  uint64_t probes = uint64_t{1} << 18;
  uint64_t seed = 1;
};

struct PickJobConfig {
  std::string experiment;
  std::vector<std::string> contestants;
  uint64_t backends = 0;
  uint64_t picks = 0;  // of a pass
  unsigned rounds = 1;
  uint64_t seed = 1;
  int core = 0;
};

// A row a figure, by form ("table", "no table"); the workload is the scenario. What goes by counts
// is not run without a table: it cannot say where a connection was.
[[nodiscard]] Result<Rows> run_event_job(const EventJobConfig& config, const Progress& progress);

// By round: nanoseconds a choice, and microseconds for a list without one backend; bytes. An error
// is a timed pass that chose differently from the one before it.
[[nodiscard]] Result<Rows> run_pick_job(const PickJobConfig& config, const Progress& progress);

}  // namespace roost::lab
