// The program: one subcommand a network function. Arguments after `--` are DPDK's.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/ctl/ctl_arguments.h"
#include "apps/ctl/ctl_command.h"
#include "apps/program/advise_command.h"
#include "apps/program/exit_status.h"
#include "apps/program/function_list.h"
#include "apps/program/map_command.h"
#include "apps/program/trafficgen_command.h"

namespace roost::program {

namespace {

constexpr std::string_view kPortsAndExit =
    "\n"
    "Ports are DPDK's, made by the arguments after `--`, one [[port]] of the file for each:\n"
    "  live     roost {0} -c {0}.toml -- --no-huge --no-pci --vdev=net_af_packet0,iface=eth0 ...\n"
    "  replay   roost {0} -c {0}.toml -- --no-huge --no-pci \\\n"
    "             --vdev=net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap ...\n"
    "A replay ends with its captures and runs in the time of the packets. A live run ends by\n"
    "SIGINT or SIGTERM. Both end with a report on standard output; all else is on standard error.\n"
    "\n"
    "Exit status:\n"
    "  0  all went well\n"
    "  1  the run ended, and the numbers of its report do not add up: a bug\n"
    "  2  the command line is wrong\n"
    "  3  the configuration was refused; each fault is printed with its line\n"
    "  4  captures, DPDK, ports or memory are not available";

constexpr const char* kCtlAbout = "Ask and tell a running function, over its control socket.";

constexpr const char* kCtlFooter =
    "roost ctl COMMAND --help says what a command takes; a function that has no such command says\n"
    "so. Tables, or JSON with --json, on standard output; what is wrong on standard error.\n"
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  the function says why not\n"
    "  2  the command line is wrong\n"
    "  4  nobody answers at the socket; or none is given, and not just one is in /run/roost";

std::string about() {
  struct Line {
    std::string usage;
    std::string_view what;
  };
  std::vector<Line> lines;
  const auto line = [&](std::string usage, std::string_view what) {
    lines.push_back({std::move(usage), what});
  };
  for (const FunctionEntry& one : function_list()) {
    line(fmt::format("roost {} -c FILE [--json] -- EAL-ARGUMENTS", one.command), one.short_about);
    line(fmt::format("roost {} -c FILE --check", one.command),
         "check a configuration, start nothing");
    if (one.suggest == nullptr) continue;
    line(fmt::format("roost {} --suggest CAPTURE", one.command),
         "print a configuration for a capture");
  }
  line("roost trafficgen -c FILE [--json] -- EAL-ARGUMENTS", "load for what is to be measured");
  line("roost advise CAPTURE", "tables and timeouts for such a load");
  line("roost map COMMAND", "value-only tables from text files, here and in other data planes");
  line("roost ctl COMMAND", "ask and tell a running function");
  size_t width = 0;
  for (const Line& one : lines) width = std::max(width, one.usage.size());
  std::string text = "Roost: network functions on exact-match tables.\n";
  for (const Line& one : lines) text += fmt::format("\n  {:<{}}  {}", one.usage, width, one.what);
  return text;
}

// What follows the first "--".
std::vector<std::string> split_off_eal_arguments(std::vector<std::string>& arguments) {
  const auto separator = std::ranges::find(arguments, "--");
  if (separator == arguments.end()) return {};
  std::vector<std::string> eal(separator + 1, arguments.end());
  arguments.erase(separator, arguments.end());
  return eal;
}

// A function's subcommand, with what was given.
class Subcommand {
 public:
  Subcommand(CLI::App& app, const FunctionEntry& entry)
      : entry_(entry),
        app_(app.add_subcommand(std::string(entry.command), std::string(entry.about))) {
    app_->footer(std::string(entry.details) + "\n" +
                 fmt::format(fmt::runtime(kPortsAndExit), entry.command));
    auto* config =
        app_->add_option("-c,--config", options_.config_path, "the configuration, in TOML");
    auto* check =
        app_->add_flag("--check", options_.check_only, "check the configuration and start nothing");
    auto* json = app_->add_flag("--json", options_.json, "report as JSON on standard output");
    trace::TraceOptions& watch = options_.watch;
    auto* capture =
        app_->add_option("--capture", watch.capture_path,
                         "write packets in and out to this pcapng file, with words on each");
    auto* capture_filter =
        app_->add_option("--capture-filter", watch.filter, "only these packets, as for tcpdump")
            ->needs(capture);
    trace_ =
        app_->add_option("--trace", watch.filter, "say what these packets meet, on standard error")
            ->excludes(capture, capture_filter);
    if (entry.takes_over) {
      app_->add_flag("--takeover", options_.takes_over,
                     "go on with the connections in the directory [lb] state, of the process that "
                     "runs there or of one that has ended")
          ->excludes(check);
    }
    if (entry.suggest == nullptr) return;
    app_->add_option("--suggest", options_.suggest_path,
                     "print a configuration for this capture and exit")
        ->excludes(config)
        ->excludes(check)
        ->excludes(json)
        ->excludes(capture)
        ->excludes(trace_);
  }

  [[nodiscard]] bool is_parsed() const { return app_->parsed(); }

  // Throws CLI::RequiredError.
  void require_config() const {
    if (!options_.config_path.empty() || !options_.suggest_path.empty()) return;
    throw CLI::RequiredError(entry_.suggest == nullptr ? "-c FILE"
                                                       : "-c FILE, or --suggest CAPTURE,");
  }

  [[nodiscard]] int run(std::vector<std::string> eal_arguments) {
    options_.watch.is_printed = trace_->count() != 0;
    options_.eal_arguments = std::move(eal_arguments);
    return options_.suggest_path.empty() ? entry_.run(options_) : suggest();
  }

 private:
  [[nodiscard]] int suggest() const {
    const Result<std::string> toml = entry_.suggest(options_.suggest_path);
    if (!toml) {
      complain(toml.error().message);
      return kExitCannotStart;
    }
    std::cout << toml.value();
    return kExitOk;
  }

  const FunctionEntry& entry_;
  CLI::App* app_;
  CLI::Option* trace_ = nullptr;
  FunctionOptions options_;
};

std::vector<ctl::FunctionCommands> all_commands() {
  std::vector<ctl::FunctionCommands> functions;
  for (const FunctionEntry& entry : function_list()) {
    functions.push_back({entry.command, entry.commands});
  }
  return functions;
}

int run(std::vector<std::string> arguments) {
  const std::vector<std::string> eal_arguments = split_off_eal_arguments(arguments);
  CLI::App app{about(), "roost"};
  app.require_subcommand(1);
  std::deque<Subcommand> functions;  // CLI11 points to their members
  for (const FunctionEntry& entry : function_list()) functions.emplace_back(app, entry);
  const TrafficgenCommand trafficgen(app);
  const AdviseCommand advise(app);
  const MapCommand map(app);
  CLI::App* ctl = app.add_subcommand("ctl", kCtlAbout);
  ctl->footer(kCtlFooter);
  const ctl::CtlArguments ctl_arguments(*ctl, all_commands());
  const auto chosen = [&] { return std::ranges::find_if(functions, &Subcommand::is_parsed); };
  try {
    std::ranges::reverse(arguments);  // CLI11 takes them from the back
    app.parse(arguments);
    if (chosen() != functions.end()) chosen()->require_config();
    if (advise.is_parsed()) advise.require_load();
    if (map.is_parsed()) map.require_arguments();
    if (ctl->parsed() && !ctl_arguments.only_list && ctl->get_subcommands().empty()) {
      throw CLI::RequiredError("A command of `roost ctl --help`");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (chosen() != functions.end()) return chosen()->run(eal_arguments);
  if (trafficgen.is_parsed()) return trafficgen.run(eal_arguments);
  if (advise.is_parsed()) return advise.run();
  if (map.is_parsed()) return map.run();
  if (ctl_arguments.only_list) {
    std::cout << ctl_arguments.list().dump(2) << "\n";
    return kExitOk;
  }
  return ctl::run_ctl({.socket = ctl_arguments.socket,
                       .json = ctl_arguments.json,
                       .request = ctl_arguments.request()});
}

}  // namespace

}  // namespace roost::program

int main(int argc, char** argv) {
  try {
    return roost::program::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {  // out of memory before traffic flows
    std::cerr << "roost: " << error.what() << "\n";
    return roost::program::kExitCannotStart;
  }
}
