// The program: one subcommand a network function. Arguments after `--` are DPDK's.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "apps/ctl/ctl_arguments.h"
#include "apps/ctl/ctl_command.h"
#include "apps/program/exit_status.h"
#include "apps/program/lb_command.h"

namespace {

constexpr const char* kAbout =
    "Roost: network functions on exact-match tables.\n"
    "\n"
    "  roost lb -c FILE [--json] -- EAL-ARGUMENTS   balance TCP and UDP over backends\n"
    "  roost lb -c FILE --check                     check a configuration, start nothing\n"
    "  roost lb --suggest CAPTURE                   print a configuration for a capture\n"
    "  roost ctl COMMAND                            ask and tell a running balancer";

constexpr const char* kLbAbout = "A layer-4 load balancer for TCP and UDP, IPv4 and IPv6.";

constexpr const char* kLbFooter =
    "It takes packets for virtual addresses from its ports, sends each connection to one backend\n"
    "of the service (chosen by Maglev, kept in a flow table), and brings the replies back.\n"
    "\n"
    "Ports are DPDK's, made by the arguments after `--`, one [[port]] of the file for each:\n"
    "  live     roost lb -c lb.toml -- --no-huge --no-pci --vdev=net_af_packet0,iface=eth0 ...\n"
    "  replay   roost lb -c lb.toml -- --no-huge --no-pci \\\n"
    "             --vdev=net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap ...\n"
    "A replay ends with its captures and runs in the time of the packets. A live run ends by\n"
    "SIGINT or SIGTERM. Both end with a report on standard output; all else is on standard error.\n"
    "\n"
    "Exit status:\n"
    "  0  all went well\n"
    "  1  the run ended, and the numbers of its report do not add up: a bug\n"
    "  2  the command line is wrong\n"
    "  3  the configuration was refused; each fault is printed with its line\n"
    "  4  captures, DPDK, ports or memory could not be had";

constexpr const char* kCtlAbout = "Ask and tell a running balancer, over its control socket.";

constexpr const char* kCtlFooter =
    "roost ctl COMMAND --help says what a command takes. Tables, or JSON with --json, on standard\n"
    "output; what is wrong on standard error.\n"
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  the balancer says why not\n"
    "  2  the command line is wrong\n"
    "  4  nobody answers at the socket";

// What follows the first "--".
std::vector<std::string> split_off_eal_arguments(std::vector<std::string>& arguments) {
  const auto separator = std::ranges::find(arguments, "--");
  if (separator == arguments.end()) return {};
  std::vector<std::string> eal(separator + 1, arguments.end());
  arguments.erase(separator, arguments.end());
  return eal;
}

int run(std::vector<std::string> arguments) {
  roost::lb::LbOptions options;
  options.eal_arguments = split_off_eal_arguments(arguments);

  CLI::App app{kAbout, "roost"};
  app.require_subcommand(1);
  CLI::App* lb = app.add_subcommand("lb", kLbAbout);
  lb->footer(kLbFooter);
  auto* config = lb->add_option("-c,--config", options.config_path, "the configuration, in TOML");
  auto* suggest = lb->add_option("--suggest", options.suggest_path,
                                 "print a configuration for this capture and exit");
  auto* check =
      lb->add_flag("--check", options.check_only, "check the configuration and start nothing");
  auto* json = lb->add_flag("--json", options.json, "report as JSON on standard output");
  roost::trace::TraceOptions& watch = options.watch;
  auto* capture =
      lb->add_option("--capture", watch.capture_path,
                     "write packets in and out to this pcapng file, with words on each");
  auto* capture_filter =
      lb->add_option("--capture-filter", watch.filter, "only these packets, as for tcpdump")
          ->needs(capture);
  auto* trace =
      lb->add_option("--trace", watch.filter, "say what these packets meet, on standard error")
          ->excludes(capture, capture_filter);
  suggest->excludes(config)->excludes(check)->excludes(json)->excludes(capture)->excludes(trace);
  CLI::App* ctl = app.add_subcommand("ctl", kCtlAbout);
  ctl->footer(kCtlFooter);
  const roost::ctl::CtlArguments ctl_arguments(*ctl);

  try {
    std::ranges::reverse(arguments);  // CLI11 takes them from the back
    app.parse(arguments);
    if (lb->parsed() && options.config_path.empty() && options.suggest_path.empty()) {
      throw CLI::RequiredError("-c FILE, or --suggest CAPTURE,");
    }
    if (ctl->parsed() && !ctl_arguments.only_list && ctl->get_subcommands().empty()) {
      throw CLI::RequiredError("A command of `roost ctl --help`");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? roost::lb::kExitOk : roost::lb::kExitUsage;
  }
  watch.is_told = trace->count() != 0;
  if (ctl_arguments.only_list) {
    std::cout << roost::ctl::CtlArguments::list().dump(2) << "\n";
    return roost::lb::kExitOk;
  }
  if (ctl->parsed()) {
    return roost::ctl::run_ctl({.socket = ctl_arguments.socket,
                                .json = ctl_arguments.json,
                                .request = ctl_arguments.request()});
  }
  return roost::lb::run_lb(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {  // out of memory before traffic flows
    std::cerr << "roost: " << error.what() << "\n";
    return roost::lb::kExitCannotStart;
  }
}
