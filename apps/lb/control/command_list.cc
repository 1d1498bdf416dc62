#include "apps/lb/control/command_list.h"

#include <array>

namespace roost::lb {

namespace {

constexpr Parameter kService = {.name = "service", .help = "only this service"};
constexpr Parameter kBackend = {.name = "backend", .help = "only backends of this name"};

constexpr std::array<Parameter, 1> kBackendsParameters = {kService};

constexpr std::array<Parameter, 9> kFlowsParameters = {
    {{.name = "action",
      .is_positional = true,
      .choices = "list count delete",
      .help = "list them (the default), count them by class, service, backend and state, or delete "
              "them"},
     kService,
     kBackend,
     {.name = "client", .help = "only clients in this prefix: 192.0.2.0/24, or an address"},
     {.name = "state",
      .choices = "syn_sent syn_received established client_finished backend_finished closed udp",
      .help = "only connections in this state"},
     {.name = "class",
      .choices = "embryonic confirmed closed",
      .help = "only connections of this class; all but confirmed ones may be evicted"},
     {.name = "limit",
      .kind = ParameterKind::kNumber,
      .help = "at most so many a page, 8 to 1000 (100)"},
     {.name = "cursor", .help = "go on where the page before ended"},
     {.name = "all", .kind = ParameterKind::kFlag, .help = "with delete: without any filter"}}};

constexpr std::array<Parameter, 1> kNeighboursParameters = {
    {{.name = "state",
      .choices = "unknown incomplete reachable stale probe failed learned static",
      .help = "only neighbours in this state"}}};

constexpr std::array<Parameter, 2> kTimeoutsParameters = {
    {{.name = "name",
      .is_positional = true,
      .choices = "tcp_syn tcp_established tcp_closing tcp_closed udp",
      .help = "the timeout to change"},
     {.name = "seconds",
      .kind = ParameterKind::kNumber,
      .is_positional = true,
      .help = "what it is to be; connections get it from their next packet on"}}};

constexpr std::array<Parameter, 3> kBackendParameters = {
    {{.name = "action",
      .is_positional = true,
      .is_required = true,
      .choices = "up down drain",
      .help = "up: its weight is the configuration's again; down, drain: no new connections, those "
              "that are there stay"},
     {.name = "name", .is_positional = true, .is_required = true, .help = "the backend"},
     {.name = "service", .help = "only in this service, else in all that have it"}}};

constexpr std::array<Parameter, 2> kTraceParameters = {
    {{.name = "action",
      .is_positional = true,
      .choices = "on off show",
      .help =
          "on: from now on, with a filter; show (the default): what was seen since the last time; "
          "off: that, and no more"},
     {.name = "filter",
      .is_positional = true,
      .help = "which packets, as for tcpdump: 'host 192.0.2.10 and port 80'"}}};

constexpr std::array<Command, 12> kCommands = {
    {{"stats", "packets, flows, drops by cause, tables, and cycles by worker", {}},
     {"services", "the services, and what each of their backends carried", {}},
     {"backends", "the backends with their weights, states and live flows", kBackendsParameters},
     {"backend", "take a backend out of service, or put it back", kBackendParameters},
     {"flows", "the connections: listed by pages, counted, or deleted", kFlowsParameters},
     {"neighbours", "the stations on the ports' networks, and what is known of each",
      kNeighboursParameters},
     {"announce", "tell the ports' networks which addresses are answered for here, at once", {}},
     {"timeouts", "the timeouts; with a name and seconds, change one", kTimeoutsParameters},
     {"trace", "what packets meet on their way, in words", kTraceParameters},
     {"reload", "take the configuration as its file is now; a wrong one changes nothing", {}},
     {"workers", "what each worker does, and with how many cycles", {}},
     {"version", "what is running", {}}}};

}  // namespace

std::span<const Command> command_list() { return kCommands; }

}  // namespace roost::lb
