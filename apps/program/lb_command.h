// `roost lb`: from a command line to an exit status. Ports, DPDK and printing come in here and
// nowhere else in the load balancer.
#pragma once

#include <string>
#include <vector>

#include "roost/trace/tracer.h"

namespace roost::lb {

struct LbOptions {
  std::string config_path{};
  std::string suggest_path{};  // a capture: print a configuration for it, and do nothing else
  bool check_only = false;     // check the configuration, and do nothing else
  bool json = false;           // the report as JSON
  trace::TraceOptions watch{};
  std::vector<std::string> eal_arguments{};
};

// Returns an exit status of exit_status.h.
[[nodiscard]] int run_lb(const LbOptions& options);

}  // namespace roost::lb
