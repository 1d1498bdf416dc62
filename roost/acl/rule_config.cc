#include "roost/acl/rule_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "roost/acl/rule_masks.h"
#include "roost/config/message_text.h"
#include "roost/config/toml_table.h"

namespace roost::acl {

namespace {

using config::Fault;
using config::TomlTable;

constexpr size_t kRulesMax = 65'535;
constexpr size_t kNameBytesMax = 64;
constexpr std::string_view kPortWord = "port ";

struct NamedProtocol {
  std::string_view name;
  uint8_t number;
};
constexpr std::array<NamedProtocol, 8> kProtocols = {{{"tcp", 6},
                                                      {"udp", 17},
                                                      {"icmp", 1},
                                                      {"icmpv6", 58},
                                                      {"gre", 47},
                                                      {"esp", 50},
                                                      {"ah", 51},
                                                      {"sctp", 132}}};

// A whole number from 0 to `max`; nothing else may stand beside it.
std::optional<uint64_t> read_number(std::string_view text, uint64_t max) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > max) return {};
  return number;
}

// Names stand in lines of the log and on terminals.
std::string read_name(TomlTable& table, size_t place) {
  std::string name = table.text("name").value_or(std::to_string(place));
  const bool is_plain = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
  if (name.empty() || name.size() > kNameBytesMax || !is_plain) {
    table.fault_in("name", fmt::format("{} cannot be a name; give 1 to {} visible ASCII "
                                       "characters without spaces",
                                       config::in_quotes(name), kNameBytesMax));
  }
  return name;
}

std::optional<uint8_t> read_protocol(TomlTable& table) {
  const auto word = table.text("protocol");
  if (!word) return {};
  const auto* const named = std::ranges::find(kProtocols, *word, &NamedProtocol::name);
  if (named != kProtocols.end()) return named->number;
  if (const auto number = read_number(*word, 255)) return static_cast<uint8_t>(*number);
  table.fault_in("protocol", fmt::format("{} is none; give \"tcp\", \"udp\", \"icmp\", "
                                         "\"icmpv6\", \"gre\", \"esp\", \"ah\", \"sctp\" or IP's "
                                         "number as a text",
                                         config::in_quotes(*word)));
  return {};
}

// Each text of an array, or a single one.
template <class Take>
void for_each_text(TomlTable& table, std::string_view key, std::string_view wanted, Take&& take) {
  const toml::array* const array = table.array(key);
  if (array == nullptr) return;
  for (const toml::node& node : *array) {
    std::optional<std::string> text;
    if (const auto* const string = node.as_string()) text = string->get();
    if (const auto* const number = node.as_integer()) text = std::to_string(number->get());
    if (!text || !take(*text)) {
      table.fault(config::line_of(node),
                  fmt::format("{} {}: {}; give {}", table.name(), key,
                              text ? config::in_quotes(*text) + " is none" : std::string("no text"),
                              wanted));
    }
  }
}

RuleSide read_side(TomlTable& table, std::string_view key, size_t port_count) {
  RuleSide side;
  const std::string wanted =
      fmt::format("\"port 0\" to \"port {}\", and networks as \"192.0.2.0/24\"", port_count - 1);
  for_each_text(table, key, wanted, [&](const std::string& text) {
    if (text.starts_with(kPortWord)) {
      const auto port = read_number(std::string_view(text).substr(kPortWord.size()), UINT16_MAX);
      if (!port || *port >= port_count) return false;
      side.ports.push_back(static_cast<uint16_t>(*port));
      return true;
    }
    const auto prefix = net::IpPrefix::parse_network(text);
    if (prefix) side.networks.push_back(prefix.value());
    return prefix.ok();
  });
  return side;
}

std::vector<PortRange> read_ports(TomlTable& table, std::string_view key) {
  std::vector<PortRange> ranges;
  for_each_text(table, key, "ports from 0 to 65535, or ranges as \"8000-8100\"",
                [&](const std::string& text) {
                  const size_t dash = text.find('-');
                  const auto first = read_number(text.substr(0, dash), UINT16_MAX);
                  const auto last = dash == std::string::npos
                                        ? first
                                        : read_number(text.substr(dash + 1), UINT16_MAX);
                  if (!first || !last || *first > *last) return false;
                  ranges.push_back({static_cast<uint16_t>(*first), static_cast<uint16_t>(*last)});
                  return true;
                });
  return ranges;
}

// Those of SCTP the parser does not read: a rule with them would match nothing.
bool has_ports(std::optional<uint8_t> protocol) { return protocol == 6 || protocol == 17; }

// What a rule says that no packet can be.
void check_rule(const RuleConfig& rule, TomlTable& table) {
  if ((!rule.ports.empty() || !rule.source_ports.empty()) && !has_ports(rule.protocol)) {
    table.fault(rule.line, table.name() +
                               ": ports without a protocol whose ports are looked at; give "
                               "protocol = \"tcp\" or \"udp\"");
  }
  const auto has_family = [](const RuleSide& side, bool is_ipv6) {
    return side.networks.empty() ||
           std::ranges::any_of(side.networks, [&](const net::IpPrefix& network) {
             return network.address.is_ipv6() == is_ipv6;
           });
  };
  if (!(has_family(rule.from, false) && has_family(rule.to, false)) &&
      !(has_family(rule.from, true) && has_family(rule.to, true))) {
    table.fault(rule.line, table.name() +
                               ": networks of IPv4 on one side and of IPv6 on the "
                               "other; no packet has both");
  }
}

std::string side_text(const RuleSide& side) {
  std::string text;
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  for (const uint16_t port : side.ports) add(fmt::format("port {}", port));
  for (const net::IpPrefix& network : side.networks) add(network.format());
  return text.empty() ? "any" : text;
}

std::string ranges_text(std::string_view word, const std::vector<PortRange>& ranges) {
  std::string text;
  for (const PortRange& range : ranges) {
    text += fmt::format("{}{}", text.empty() ? std::string(word) : std::string(","), range.first);
    if (range.last != range.first) text += fmt::format("-{}", range.last);
  }
  return text;
}

}  // namespace

std::vector<RuleConfig> read_rules(TomlTable& top, size_t port_count, std::vector<Fault>& faults) {
  std::vector<RuleConfig> rules;
  for (const toml::table* toml : top.tables("rule")) {
    TomlTable table(*toml, "[[rule]]", faults);
    RuleConfig rule{.line = table.line()};
    rule.name = read_name(table, rules.size() + 1);
    rule.from = read_side(table, "from", port_count);
    rule.to = read_side(table, "to", port_count);
    rule.protocol = read_protocol(table);
    rule.source_ports = read_ports(table, "source_ports");
    rule.ports = read_ports(table, "ports");
    table.require("action", R"(action = "allow", "deny" or "reject")");
    rule.action = static_cast<Action>(table.choice("action", kActionNames).value_or(0));
    rule.logs = table.boolean("log").value_or(false);
    table.refuse_unknown_keys();
    check_rule(rule, table);
    if (!masks_of(rule, 0)) {
      table.fault(rule.line,
                  "[[rule]]: its ports, networks and ranges have too many combinations; "
                  "make several rules of it");
    }
    rules.push_back(std::move(rule));
  }
  if (rules.size() > kRulesMax) {
    faults.push_back({rules[kRulesMax].line, fmt::format("[[rule]]: there are {}; give at most {}",
                                                         rules.size(), kRulesMax)});
  }
  return rules;
}

std::string protocol_text(uint8_t protocol) {
  const auto* const named = std::ranges::find(kProtocols, protocol, &NamedProtocol::number);
  return named != kProtocols.end() ? std::string(named->name) : std::to_string(protocol);
}

std::string rule_text(const RuleConfig& rule) {
  return fmt::format("{} from {}{} to {}{}",
                     rule.protocol ? protocol_text(*rule.protocol) : std::string("all"),
                     side_text(rule.from), ranges_text(" ports ", rule.source_ports),
                     side_text(rule.to), ranges_text(" ports ", rule.ports));
}

}  // namespace roost::acl
