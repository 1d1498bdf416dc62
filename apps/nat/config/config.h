// What the NAT's configuration file says, and reading it; whole or not at all, as for every
// function.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/function_config.h"
#include "roost/config/toml_file.h"
#include "roost/conntrack/external_addresses.h"
#include "roost/conntrack/timeouts.h"
#include "roost/l3/network_config.h"

namespace roost::routing {
struct RoutingTable;
}

namespace roost::nat {

// Whose packets an external endpoint lets in, beside those of its connections (RFC 4787 section 5).
enum class Filtering : uint8_t { kEndpointIndependent, kAddress, kAddressAndPort };
inline constexpr std::array<std::string_view, 3> kFilteringNames = {"endpoint_independent",
                                                                    "address", "address_and_port"};

// The least that RFC 4787 REQ-5, RFC 5382 REQ-5 and RFC 5508 REQ-1 have.
inline constexpr std::array<conntrack::NamedTimeout, 6> kTimeouts = {
    {{"tcp_syn", 240, conntrack::kSynStates},
     {"tcp_established", 7'440, conntrack::kEstablishedStates},
     {"tcp_closing", 240, conntrack::kClosingStates},
     {"tcp_closed", 240, conntrack::kClosedStates},
     {"udp", 300, conntrack::kUdpStates},
     {"icmp_echo", 60, conntrack::kEchoStates}}};

struct Config : config::FunctionConfig {
  static constexpr uint64_t kForwardsMax = 4'096;

  std::vector<net::Ipv4Address> external{};
  uint32_t external_line = 0;
  uint16_t first_port = 1'024;
  uint16_t last_port = 65'535;
  uint32_t ports_per_host = 0;  // 0: any number
  Filtering filtering = Filtering::kEndpointIndependent;
  bool routes_ipv6 = false;
  uint64_t connections = 100'000;  // of each worker
  std::vector<conntrack::StaticMapping> forwards{};
  conntrack::StateTimeouts timeouts{};
  std::shared_ptr<const routing::RoutingTable> table{};  // of the network's routes, if EAL runs
  l3::NetworkConfig network{};
};

using ConfigOutcome = config::Outcome<Config>;

// A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);
[[nodiscard]] ConfigOutcome parse_config(std::string_view text);

// A fault for each thing that `file` says differently and that cannot change while packets flow.
// Routes, forwards, `ports_per_host` and timeouts can.
[[nodiscard]] std::vector<config::Fault> refused_changes(const Config& running, const Config& file);

}  // namespace roost::nat
