#include "apps/program/trafficgen_command.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "apps/program/exit_status.h"
#include "apps/program/function_command.h"
#include "apps/trafficgen/config/config.h"
#include "apps/trafficgen/control/capture_run.h"
#include "apps/trafficgen/control/live_run.h"
#include "apps/trafficgen/control/report.h"

namespace roost::program {
namespace {

constexpr const char* kAbout =
    "Clients and backends of many connections, open loop: what is lost, and how long packets take.";

constexpr const char* kFooter =
    "\n"
    "Frames leave by the port of the clients and come back by the port of the backends, and the\n"
    "other way round; between them is what is measured:\n"
    "  roost trafficgen -c trafficgen.toml -- --no-huge --no-pci \\\n"
    "    --vdev=net_memif0,role=server,id=0,socket=/run/a.sock \\\n"
    "    --vdev=net_memif1,role=server,id=1,socket=/run/a.sock\n"
    "A report on standard output; all else is on standard error.\n"
    "\n"
    "Exit status:\n"
    "  0  all went well\n"
    "  1  the run ended, and the numbers of its report do not add up: a bug\n"
    "  2  the command line is wrong\n"
    "  3  the configuration was refused; each fault is printed with its line\n"
    "  4  DPDK, ports, memory or the file to write are not available\n"
    "  5  the generator was late too often: the figures are its own, not those of what it measures";

// "loss=0.1%" or "loss=0.001".
std::optional<double> parse_search(std::string_view text) {
  constexpr std::string_view kName = "loss=";
  if (!text.starts_with(kName)) return {};
  text.remove_prefix(kName.size());
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (is_percent) number /= 100;
  if (!(number >= 0 && number < 1)) return {};
  return number;
}

int finish(const trafficgen::Report& report, bool json) {
  fmt::print("{}{}", json ? format_json(report) : format_text(report), json ? "\n" : "");
  std::fflush(stdout);
  const std::vector<std::string> broken = broken_sums(report);
  for (const std::string& sentence : broken) complain(sentence);
  if (!broken.empty()) return kExitBrokenSums;
  if (!report.is_valid() && !report.search) return kExitNoVerdict;
  return kExitOk;
}

}  // namespace

TrafficgenCommand::TrafficgenCommand(CLI::App& app)
    : app_(app.add_subcommand("trafficgen", kAbout)) {
  app_->footer(kFooter);
  app_->add_option("-c,--config", config_path_, "the configuration, in TOML")->required();
  auto* check = app_->add_flag("--check", check_only_, "check the configuration and start nothing");
  app_->add_flag("--json", json_, "report as JSON on standard output");
  app_->add_option("--search", search_,
                   "loss=SHARE: find the greatest rate at which no more is lost, as loss=0.1%")
      ->excludes(check)
      ->check([](const std::string& text) {
        return parse_search(text) ? std::string() : "give loss=0.1% or loss=0.001";
      });
  app_->add_option("--write", capture_path_,
                   "write the packets to this pcapng file, by their times, and use no port")
      ->excludes(check)
      ->excludes("--search");
}

int TrafficgenCommand::run(const std::vector<std::string>& eal_arguments) const {
  const trafficgen::ConfigOutcome outcome = trafficgen::read_config(config_path_);
  for (const config::Fault& fault : outcome.faults)
    fmt::print(stderr, "{}\n", describe(fault, config_path_));
  if (!outcome.config) return kExitBadConfig;
  if (check_only_) {
    fmt::print("{} is right: {} steps, {:.0f} seconds. Nothing was started.\n", config_path_,
               outcome.config->steps.size(), outcome.config->seconds());
    return kExitOk;
  }
  const volatile std::sig_atomic_t& stop = end_in_order_on_signals();
  if (!capture_path_.empty()) {
    const auto written = trafficgen::write_capture(*outcome.config, capture_path_, &stop);
    if (!written) {
      complain(written.error().message);
      return kExitCannotStart;
    }
    fmt::print("{}: {} packets, synthetic.\n", capture_path_, written.value());
    return kExitOk;
  }
  trafficgen::RunOptions options{.eal_arguments = eal_arguments, .stop = &stop};
  options.progress = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
  if (!search_.empty()) options.search_loss = parse_search(search_);
  const auto report = trafficgen::run_live(*outcome.config, options);
  if (!report) {
    complain(report.error().message);
    return kExitCannotStart;
  }
  return finish(report.value(), json_);
}

}  // namespace roost::program
