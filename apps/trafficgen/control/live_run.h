// A run of the traffic generator on DPDK ports, by one core.
#pragma once

#include <csignal>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apps/trafficgen/config/config.h"
#include "apps/trafficgen/control/report.h"
#include "roost/base/result.h"

namespace roost::trafficgen {

struct RunOptions {
  std::span<const std::string> eal_arguments{};
  const volatile std::sig_atomic_t* stop = nullptr;                          // not 0: end the run
  std::function<void(std::string_view)> progress = [](std::string_view) {};  // once a second
  // Instead of the steps: trials of the first step's length, from its rate down, until the greatest
  // rate is known to a hundredth at which no larger share is lost.
  std::optional<double> search_loss{};
};

// Errors: EAL or a port cannot be started; there are not as many ports as the configuration names;
// a search whose first step has no rate.
[[nodiscard]] Result<Report> run_live(const Config& config, const RunOptions& options);

}  // namespace roost::trafficgen
