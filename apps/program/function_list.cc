#include "apps/program/function_list.h"

#include <array>

#include "apps/lb/config/suggest.h"
#include "apps/lb/control/balancer.h"

namespace roost::program {

std::span<const FunctionEntry> function_list() {
  static const std::array functions = {FunctionEntry{
      .command = "lb",
      .short_about = "balance TCP and UDP over backends",
      .about = "A layer-4 load balancer for TCP and UDP, IPv4 and IPv6.",
      .details =
          "It takes packets for virtual addresses from its ports, sends each connection to one "
          "backend\n"
          "of the service (chosen by Maglev, kept in a flow table), and brings the replies back.",
      .commands = lb::Balancer::commands(),
      .run = run_function<lb::Balancer>,
      .suggest = lb::suggest_config}};
  return functions;
}

}  // namespace roost::program
