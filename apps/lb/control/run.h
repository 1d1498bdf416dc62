// One run of the load balancer on DPDK ports: captures or live traffic, until the captures end or
// somebody says stop.
#pragma once

#include <csignal>
#include <optional>
#include <span>
#include <string>

#include "apps/lb/config/config.h"
#include "apps/lb/control/report.h"
#include "roost/base/result.h"
#include "roost/trace/tracer.h"

namespace roost::lb {

struct RunOptions {
  std::span<const std::string> eal_arguments{};
  std::string config_path{};                         // read again when somebody says reload
  const volatile std::sig_atomic_t* stop = nullptr;  // not 0: end the run
  trace::TraceOptions trace{};
};

struct RunOutcome {
  Report report{};
  std::optional<Error> capture_error{};  // the file of --capture is not whole
};

// What is odd about captures and ports is said on standard error. While it runs, a line a second on
// standard error if that is a terminal.
[[nodiscard]] Result<RunOutcome> run_on_ports(const Config& config, const RunOptions& options);

}  // namespace roost::lb
