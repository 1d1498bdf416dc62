// What the load balancer's configuration file says, and reading it.
//
// A file is taken whole or not at all: reading it either gives a configuration in which everything
// agrees with everything else, or every fault that was found, each with its line and what to do
// about it. Nothing here touches ports or tables, so a file can be checked on any machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/lb/config/algorithm.h"
#include "apps/lb/config/announce_config.h"
#include "apps/lb/config/check_config.h"
#include "apps/lb/config/fullnat_config.h"
#include "apps/lb/config/mode.h"
#include "apps/lb/config/service_ports.h"
#include "roost/config/control_config.h"
#include "roost/config/toml_file.h"
#include "roost/config/workers_config.h"
#include "roost/conntrack/connection_state.h"
#include "roost/expiry/tick.h"
#include "roost/l3/network_config.h"
#include "roost/net/address.h"
#include "roost/net/headers.h"

namespace roost::lb {

class Takeover;

// Every element remembers the line it stands in, for faults that concern several of them.
struct BackendConfig {
  static constexpr uint32_t kWeightMax = 65'535;

  std::string name{};
  net::IpAddress address{};
  uint16_t port = 0;         // the first of as many as its service has
  uint32_t weight = 1;       // 0: no new connections
  uint32_t check_mark = 0;   // of the sockets of its checks; 0: none
  bool is_fallback = false;  // new connections only if no other backend of the service gets any
  uint32_t line = 0;
};

struct ServiceConfig {
  std::string name{};
  net::IpAddress address{};
  ServicePorts ports{};
  net::IpProtocol protocol{};
  Mode mode = Mode::kNat;
  Algorithm algorithm = Algorithm::kMaglev;
  bool is_one_packet = false;  // each datagram is balanced by itself, and creates no connection
  bool refuses = false;        // who finds no usable backend is told so
  bool sends_proxy_header = false;  // backends are told the client's address in front of its data
  std::vector<BackendConfig> backends{};
  std::optional<CheckConfig> check{};   // of its backends
  conntrack::StateTimeouts timeouts{};  // 0: that of [timeouts]
  uint32_t line = 0;
};

// How many connections of each family fit, at least, in each worker.
struct TableConfig {
  static constexpr uint64_t kConnectionsMin = 16;
  static constexpr uint64_t kConnectionsMax = uint64_t{1} << 32;

  uint64_t connections = 1'000'000;
  std::optional<uint64_t> hash_seed{};  // else random: an attacker cannot choose keys that collide
};

struct Config {
  uint64_t tick_microseconds = 1'000'000;
  uint64_t maglev_seed = 0;
  TableConfig table{};
  l3::NetworkConfig network{};
  std::vector<ServiceConfig> services{};
  conntrack::StateTimeouts timeouts{};
  bool verify_l4_checksum = false;
  bool refuses = false;  // packets for closed ports of virtual addresses are answered
  FullnatConfig fullnat{};
  uint16_t gue_port = 6'080;  // of backends whose service's mode is `gue`
  config::ControlConfig control{};
  config::WorkersConfig workers{};
  std::optional<AnnounceConfig> announce{};  // none: routers are told by nobody
  std::string state{};                       // directory of what outlives the process; empty: none
  std::string text{};                        // the file's, for who takes over
  std::shared_ptr<Takeover> takeover{};      // of a live run with such a directory

  [[nodiscard]] double tick_seconds() const {
    return static_cast<double>(tick_microseconds) / 1'000'000;
  }
};

using ConfigOutcome = config::Outcome<Config>;

// Reads the text of a configuration file.
[[nodiscard]] ConfigOutcome parse_config(std::string_view text);

// Reads the file itself. A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);

}  // namespace roost::lb
