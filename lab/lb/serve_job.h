// A cell on a live port, for a traffic generator in another process to load.
//
// Its configuration is flows.h's: one port for both sides, one service, timeouts as given. It says
// a line of JSON a second about its table, and one about the packets at its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/lb/cell_tables.h"
#include "roost/base/result.h"

namespace roost::lab {

struct ServeConfig {
  std::string cell;
  CellSetup setup;
  std::vector<std::string> eal_arguments;  // one device
};

// Until SIGINT or SIGTERM, on one worker. Prints on standard output. Errors: no such cell, DPDK or
// its port; or packets in are not packets out and dropped ones.
[[nodiscard]] std::optional<Error> run_serve_job(const ServeConfig& config);

}  // namespace roost::lab
