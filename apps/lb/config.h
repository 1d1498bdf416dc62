// What the load balancer's configuration file says, and reading it.
//
// A file is taken whole or not at all: reading it either gives a configuration in which everything
// agrees with everything else, or every fault that was found, each with its line and what to do
// about it. Nothing here touches ports or tables, so a file can be checked on any machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/lb/check_config.h"
#include "apps/lb/connection_state.h"
#include "apps/lb/control_config.h"
#include "apps/lb/fullnat_config.h"
#include "apps/lb/mode.h"
#include "roost/expiry/tick.h"
#include "roost/net/address.h"
#include "roost/net/headers.h"
#include "roost/net/rss.h"

namespace roost::lb {

// Of net::RssInput.
inline constexpr std::array<std::string_view, 3> kRssInputNames = {"both", "source", "destination"};

// Every element remembers the line it stands in, for faults that concern several of them.
struct PortConfig {
  std::vector<net::IpPrefix> addresses{};
  std::vector<uint16_t> vlan{};          // identifiers of the tags, outermost first; at most two
  std::optional<net::MacAddress> mac{};  // else the device's own
  bool promiscuous = false;              // takes frames for any unicast MAC
  std::optional<uint16_t> mtu{};         // largest IP packet in bytes; else 1500
  std::optional<net::MacAddress> default_neighbour_mac{};  // a router for who is no [[neighbour]]
  net::RssInput rss = net::RssInput::kBoth;  // by what the device spreads over workers, if it can
  uint32_t line = 0;
};

struct NeighbourConfig {
  net::IpAddress address{};
  net::MacAddress mac{};
  uint32_t line = 0;
};

// Who is behind a gateway.
struct RouteConfig {
  net::IpPrefix prefix{};
  net::IpAddress via{};
  uint32_t line = 0;
};

struct BackendConfig {
  std::string name{};
  net::IpAddress address{};
  uint16_t port = 0;
  uint32_t weight = 1;  // 0: no new connections
  uint32_t line = 0;
};

struct ServiceConfig {
  std::string name{};
  net::IpAddress address{};
  uint16_t port = 0;
  net::IpProtocol protocol{};
  Mode mode = Mode::kNat;
  std::vector<BackendConfig> backends{};
  std::optional<CheckConfig> check{};  // of its backends
  uint32_t line = 0;
};

inline constexpr uint32_t kWorkersMax = 128;  // DPDK's limit of lcores

// How many connections of each family fit, at least, in each worker.
struct TableConfig {
  uint64_t connections = 1'000'000;
  std::optional<uint64_t> hash_seed{};  // else random, so that nobody can choose keys that collide
};

struct Config {
  uint64_t tick_microseconds = 1'000'000;
  uint64_t maglev_seed = 0;
  TableConfig table{};
  std::vector<PortConfig> ports{};
  std::vector<NeighbourConfig> neighbours{};
  std::vector<RouteConfig> routes{};
  std::vector<ServiceConfig> services{};
  StateTimeouts timeouts{};
  bool verify_l4_checksum = false;
  FullnatConfig fullnat{};
  uint16_t gue_port = 6'080;  // of backends whose service's mode is `gue`
  ControlConfig control{};
  std::optional<uint32_t> workers{};  // else as many as EAL is told cores, or one

  [[nodiscard]] double tick_seconds() const {
    return static_cast<double>(tick_microseconds) / 1'000'000;
  }
  // Whether the address is on a port's network.
  [[nodiscard]] bool is_connected(const net::IpAddress& address) const {
    return std::ranges::any_of(ports, [&](const PortConfig& port) {
      return std::ranges::any_of(
          port.addresses, [&](const net::IpPrefix& prefix) { return prefix.contains(address); });
    });
  }
  // Whether there is a router for who is no neighbour.
  [[nodiscard]] bool has_gateway() const {
    return std::ranges::any_of(
        ports, [](const PortConfig& port) { return port.default_neighbour_mac.has_value(); });
  }
};

// What is wrong and what to do, and the line where; 0 when it concerns the file as a whole.
struct Fault {
  uint32_t line = 0;
  std::string text{};
};

// A configuration, or why there is none: one of the two is there.
struct ConfigOutcome {
  std::optional<Config> config{};
  std::vector<Fault> faults{};  // in the order of their lines
};

// Reads the text of a configuration file.
[[nodiscard]] ConfigOutcome parse_config(std::string_view text);

// Reads the file itself. A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);

// "file:line: what is wrong; what to do"
[[nodiscard]] std::string describe(const Fault& fault, std::string_view path);

}  // namespace roost::lb
