// One run of the load balancer on DPDK ports: captures or live traffic, until the captures end or
// somebody says stop.
#pragma once

#include <csignal>
#include <optional>
#include <span>
#include <string>

#include "apps/lb/config.h"
#include "apps/lb/observation.h"
#include "apps/lb/report.h"
#include "roost/base/result.h"

namespace roost::lb {

struct RunOptions {
  std::span<const std::string> eal_arguments{};
  std::string config_path{};                         // read again when somebody says reload
  const volatile std::sig_atomic_t* stop = nullptr;  // not 0: end the run
  WatchOptions watch{};
};

struct RunOutcome {
  Report report{};
  std::optional<Error> capture_error{};  // the file of --capture is not whole
};

// Captures are looked at before DPDK starts; what is odd about them is said on standard error.
// While it runs, a line a second on standard error if that is a terminal.
[[nodiscard]] Result<RunOutcome> run_on_ports(const Config& config, const RunOptions& options);

}  // namespace roost::lb
