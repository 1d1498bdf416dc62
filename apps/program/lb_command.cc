#include "apps/program/lb_command.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/config/suggest.h"
#include "apps/lb/control/report.h"
#include "apps/lb/control/run.h"
#include "apps/lb/datapath/state.h"
#include "apps/program/exit_status.h"
#include "roost/control/reload_signal.h"

namespace roost::lb {

namespace {

volatile std::sig_atomic_t stop_signal = 0;

void note_signal(int signal) { stop_signal = signal; }

// The first signal ends the run in order; a second one ends the process at once.
void end_in_order_on_signals() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void complain(const std::string& text) { fmt::print(stderr, "roost: {}\n", text); }

int suggest(const std::string& capture_path) {
  const Result<std::string> toml = suggest_config(capture_path);
  if (!toml) {
    complain(toml.error().message);
    return kExitCannotStart;
  }
  fmt::print("{}", toml.value());
  return kExitOk;
}

std::string summary_of(const Config& config, const std::string& path) {
  size_t backends = 0;
  for (const ServiceConfig& service : config.services) backends += service.backends.size();
  return fmt::format(
      "{} is right: {} ports, {} neighbours, {} services with {} backends in all; room for {} "
      "connections of each family; a tick of {:g} s. Nothing was started.\n",
      path, config.network.ports.size(), config.network.neighbours.size(), config.services.size(),
      backends, config.table.connections, config.tick_seconds());
}

// What only making the state can tell: weights too far apart, tables too large for the machine.
int check(const Config& config, const std::string& path) {
  const std::vector<net::MacAddress> macs(config.network.ports.size(), {{2, 0, 0, 0, 0, 1}});
  const Result<State> state = State::create(config, macs);
  if (!state) {
    complain(path + ": " + state.error().message);
    return kExitBadConfig;
  }
  fmt::print("{}", summary_of(config, path));
  return kExitOk;
}

int finish(const RunOutcome& outcome, bool json) {
  const Report& report = outcome.report;
  fmt::print("{}{}", json ? format_json(report) : format_text(report), json ? "\n" : "");
  std::fflush(stdout);
  const std::vector<std::string> broken = broken_sums(report);
  for (const std::string& sentence : broken) complain(sentence);
  if (outcome.capture_error) complain(outcome.capture_error->message);
  if (!broken.empty()) return kExitBrokenSums;
  return outcome.capture_error ? kExitCannotStart : kExitOk;
}

}  // namespace

int run_lb(const LbOptions& options) {
  if (!options.suggest_path.empty()) return suggest(options.suggest_path);
  if (const auto filter = io::PacketFilter::compile(options.watch.filter); !filter) {
    complain(filter.error().message);
    return kExitUsage;
  }
  const ConfigOutcome outcome = read_config(options.config_path);
  for (const config::Fault& fault : outcome.faults) {
    fmt::print(stderr, "{}\n", describe(fault, options.config_path));
  }
  if (!outcome.config) return kExitBadConfig;
  if (options.check_only) return check(*outcome.config, options.config_path);

  end_in_order_on_signals();
  control::block_reload_signal();
  const Result<RunOutcome> run =
      run_on_ports(*outcome.config, {.eal_arguments = options.eal_arguments,
                                     .config_path = options.config_path,
                                     .stop = &stop_signal,
                                     .trace = options.watch});
  if (!run) {
    complain(run.error().message);
    return kExitCannotStart;
  }
  return finish(run.value(), options.json);
}

}  // namespace roost::lb
