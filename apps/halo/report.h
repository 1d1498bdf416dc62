// What a run found, as text of which every line says that it is simulated, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/halo/break_even.h"
#include "apps/halo/inputs.h"
#include "apps/halo/neighbour.h"
#include "apps/halo/tuples.h"
#include "apps/halo/ways.h"
#include "roost/control/json.h"
#include "sim/host_check.h"
#include "sim/parameter_sweep.h"

namespace roost::halo {

struct RunReport {
  std::string machine_name;
  const sim::ParameterSweep* sweep;
  uint64_t seed;
  const Inputs* inputs;
  WayOptions options;
  std::vector<WayFigures> ways;
  std::vector<SpeedUp> speed_ups;
  const sim::HostCheck* host_check;  // the floor under them
  Ladder ladder;
  Tuples tuples;
  Neighbour neighbour;
};

[[nodiscard]] std::string format_text(const RunReport& report);
[[nodiscard]] control::Json format_json(const RunReport& report);

}  // namespace roost::halo
