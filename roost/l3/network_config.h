// The network's part of a configuration: [[port]], [[neighbour]] and [[route]], read and checked
// once. What is made from it need not be checked again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/net/address.h"
#include "roost/net/rss.h"

namespace roost::config {
class Comparison;
class TomlTable;
}  // namespace roost::config

namespace roost::l3 {

inline constexpr uint16_t kMtuDefault = 1500;

// Of net::RssInput.
inline constexpr std::array<std::string_view, 3> kRssInputNames = {"both", "source", "destination"};

// Every element remembers the line it stands in, for faults that concern several of them.
struct PortConfig {
  std::vector<net::IpPrefix> addresses{};
  std::vector<uint16_t> vlan{};          // identifiers of the tags, outermost first; at most two
  std::optional<net::MacAddress> mac{};  // else the device's own
  bool promiscuous = false;              // takes frames for any unicast MAC
  std::optional<uint16_t> mtu{};         // largest IP packet in bytes; else 1500
  std::optional<net::MacAddress> default_neighbour_mac{};  // a router for all but [[neighbour]]s
  net::RssInput rss = net::RssInput::kBoth;  // by what the device spreads over workers, if it can
  bool is_inside = false;  // of a function with two sides: towards what it translates or protects
  uint32_t line = 0;

  [[nodiscard]] uint16_t mtu_or_default() const { return mtu.value_or(kMtuDefault); }
};

struct NeighbourConfig {
  net::IpAddress address{};
  net::MacAddress mac{};
  uint32_t line = 0;
};

// A route: a prefix and its gateway.
struct RouteConfig {
  net::IpPrefix prefix{};
  net::IpAddress via{};
  uint32_t line = 0;
};

struct NetworkConfig {
  std::vector<PortConfig> ports{};
  std::vector<NeighbourConfig> neighbours{};
  std::vector<RouteConfig> routes{};
  bool is_whole = true;  // each element could be read: what depends on them can be judged

  // Whether the address is on a port's network.
  [[nodiscard]] bool is_connected(const net::IpAddress& address) const {
    return std::ranges::any_of(ports, [&](const PortConfig& port) {
      return std::ranges::any_of(
          port.addresses, [&](const net::IpPrefix& prefix) { return prefix.contains(address); });
    });
  }
  // Whether a port has a default neighbour.
  [[nodiscard]] bool has_gateway() const {
    return std::ranges::any_of(
        ports, [](const PortConfig& port) { return port.default_neighbour_mac.has_value(); });
  }
  // Whether packets for the address have a way.
  [[nodiscard]] bool is_reachable(const net::IpAddress& address) const {
    return is_connected(address) || has_gateway() ||
           std::ranges::any_of(
               routes, [&](const RouteConfig& route) { return route.prefix.contains(address); });
  }
  // The port whose own address this is; nullptr when there is none.
  [[nodiscard]] const PortConfig* find_owner(const net::IpAddress& address) const {
    const auto owner = std::ranges::find_if(ports, [&](const PortConfig& port) {
      return std::ranges::find(port.addresses, address, &net::IpPrefix::address) !=
             port.addresses.end();
    });
    return owner == ports.end() ? nullptr : &*owner;
  }
};

// What a function requires of its network.
struct NetworkRules {
  bool needs_addresses = true;  // of each port
  size_t routes_max = 256;      // as many as are searched one by one
  bool has_sides = false;       // a port may say `inside`
};

// Reads [[port]], [[neighbour]] and [[route]] of a file's top table and checks them: no address and
// no network twice, and every address that is named can be reached.
[[nodiscard]] NetworkConfig read_network(config::TomlTable& top, std::vector<config::Fault>& faults,
                                         const NetworkRules& rules = {});

// A fault for each thing that does not hold between ports, neighbours and routes.
void check_network(const NetworkConfig& network, const NetworkRules& rules,
                   std::vector<config::Fault>& faults);

// Two ports without addresses, of which what one receives leaves by the other: a fault for each
// thing that such ports cannot have, and they take all frames. `name` is the key that makes them
// one.
void check_wire(NetworkConfig& network, std::string_view name, std::vector<config::Fault>& faults);

// What `file` says differently: nothing of the network changes while packets flow.
void compare_network(const NetworkConfig& running, const NetworkConfig& file,
                     config::Comparison& comparison);

}  // namespace roost::l3
