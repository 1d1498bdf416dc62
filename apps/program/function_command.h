// A network function as a subcommand: from a command line to an exit status. Printing comes in here
// and nowhere else in a function.
#pragma once

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "apps/program/exit_status.h"
#include "apps/program/function_run.h"
#include "roost/config/toml_file.h"
#include "roost/control/reload_signal.h"
#include "roost/io/packet_filter.h"

namespace roost::program {

struct FunctionOptions {
  std::string config_path{};
  std::string suggest_path{};  // a capture: print a configuration for it, and do nothing else
  bool check_only = false;     // check the configuration, and do nothing else
  bool json = false;           // the report as JSON
  bool takes_over = false;     // go on with the connections of another process
  trace::TraceOptions watch{};
  std::vector<std::string> eal_arguments{};
};

// The first signal ends the run in order, a second one the process at once. Not 0 from then on.
[[nodiscard]] const volatile std::sig_atomic_t& end_in_order_on_signals();

// What only making the state can tell: tables too large for the machine, above all.
template <class Function>
int check(const typename Function::Config& config, const std::string& path) {
  const std::vector<net::MacAddress> macs(Function::run_config(config).ports.size(),
                                          {{2, 0, 0, 0, 0, 1}});
  const auto state = Function::create_state(config, {.device_macs = macs});
  if (!state) {
    complain(path + ": " + state.error().message);
    return kExitBadConfig;
  }
  fmt::print("{} is right: {} Nothing was started.\n", path, Function::summary_of(config));
  return kExitOk;
}

template <class Report>
int finish(const RunOutcome<Report>& outcome, bool json) {
  const Report& report = outcome.report;
  fmt::print("{}{}", json ? format_json(report) : format_text(report), json ? "\n" : "");
  std::fflush(stdout);
  const std::vector<std::string> broken = broken_sums(report);
  for (const std::string& sentence : broken) complain(sentence);
  if (outcome.capture_error) complain(outcome.capture_error->message);
  if (!broken.empty()) return kExitBrokenSums;
  return outcome.capture_error ? kExitCannotStart : kExitOk;
}

// Returns an exit status of exit_status.h.
template <class Function>
[[nodiscard]] int run_function(const FunctionOptions& options) {
  if (const auto filter = io::PacketFilter::compile(options.watch.filter); !filter) {
    complain(filter.error().message);
    return kExitUsage;
  }
  const auto outcome = Function::read_config(options.config_path);
  for (const config::Fault& fault : outcome.faults) {
    fmt::print(stderr, "{}\n", describe(fault, options.config_path));
  }
  if (!outcome.config) return kExitBadConfig;
  if (options.check_only) return check<Function>(*outcome.config, options.config_path);

  const volatile std::sig_atomic_t& stop = end_in_order_on_signals();
  control::block_reload_signal();
  const auto run = run_on_ports<Function>(*outcome.config, {.eal_arguments = options.eal_arguments,
                                                            .config_path = options.config_path,
                                                            .stop = &stop,
                                                            .trace = options.watch,
                                                            .takes_over = options.takes_over});
  if (!run) {
    complain(run.error().message);
    return kExitCannotStart;
  }
  return finish(run.value(), options.json);
}

}  // namespace roost::program
