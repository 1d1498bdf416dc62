// A rule as people write it in a configuration: who may send what to whom, in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/net/address.h"

namespace roost::config {
class TomlTable;
}

namespace roost::acl {

enum class Action : uint8_t { kAllow, kDeny, kReject };
inline constexpr std::array<std::string_view, 3> kActionNames = {"allow", "deny", "reject"};

[[nodiscard]] constexpr std::string_view action_name(Action action) {
  return kActionNames[static_cast<size_t>(action)];
}

struct PortRange {
  uint16_t first = 0;
  uint16_t last = 0;

  bool operator==(const PortRange&) const = default;
};

// Of where packets come from, or go to: any of the ports, and any of the networks; none: all.
struct RuleSide {
  std::vector<uint16_t> ports{};  // of the function, in DPDK's order
  std::vector<net::IpPrefix> networks{};

  bool operator==(const RuleSide&) const = default;
};

struct RuleConfig {
  std::string name{};  // for people; its place if the file has none
  RuleSide from{};
  RuleSide to{};
  std::optional<uint8_t> protocol{};  // IP's number
  std::vector<PortRange> source_ports{};
  std::vector<PortRange> ports{};  // of the destination
  Action action = Action::kAllow;
  bool logs = false;
  uint32_t line = 0;
};

// Reads the [[rule]]s of a file's top table. `port_count`: so many [[port]]s there are. What is
// taken has masks (rule_masks.h).
[[nodiscard]] std::vector<RuleConfig> read_rules(config::TomlTable& top, size_t port_count,
                                                 std::vector<config::Fault>& faults);

// As people read it: "tcp from port 0, 10.0.0.0/8 to 192.0.2.0/24 ports 80,8000-8100".
[[nodiscard]] std::string rule_text(const RuleConfig& rule);
[[nodiscard]] std::string protocol_text(uint8_t protocol);

}  // namespace roost::acl
