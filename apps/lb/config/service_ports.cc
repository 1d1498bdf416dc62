#include "apps/lb/config/service_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "roost/config/message_text.h"

namespace roost::lb {

namespace {

constexpr std::string_view kAllText = "any";

std::optional<uint16_t> parse_port(std::string_view text) {
  uint16_t port = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, port);
  if (error != std::errc() || stop != end || port == 0) return {};
  return port;
}

std::optional<ServicePorts> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const auto first = parse_port(text.substr(0, dash));
  const auto last = parse_port(text.substr(dash + 1));
  if (!first || !last || *first >= *last) return {};
  return ServicePorts{*first, *last};
}

}  // namespace

std::string ServicePorts::text() const {
  if (kind() == PortsKind::kAll) return std::string(kAllText);
  return is_one() ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string endpoint_text(const net::IpAddress& address, const ServicePorts& ports) {
  std::string text = net::endpoint_text(address, ports.first);
  return text.replace(text.rfind(':') + 1, std::string::npos, ports.text());
}

std::optional<ServicePorts> read_ports(const toml::table& toml, config::TomlTable& table) {
  table.require("port", "port = 80, port = \"8000-8099\" or port = \"any\"");
  if (!toml["port"].is_string()) {
    const auto port = table.integer("port", {1, net::kL4PortMax});
    return port ? std::optional(ServicePorts::one(static_cast<uint16_t>(*port))) : std::nullopt;
  }
  const std::string text = table.text("port").value_or("");
  if (text == kAllText) return ServicePorts::all();
  const std::optional<ServicePorts> range = parse_range(text);
  if (!range) {
    table.fault_in("port", config::in_quotes(text) +
                               " says no ports; give a number, a range from a lower to a higher "
                               "port as in \"8000-8099\", or \"any\"");
  }
  return range;
}

uint16_t read_backend_port(config::TomlTable& backend, const ServicePorts& service) {
  const auto port = backend.integer("port", {1, net::kL4PortMax});
  if (!port) return service.first;
  const uint64_t last_allowed = net::kL4PortMax - service.count() + 1;
  if (service.kind() == PortsKind::kAll) {
    backend.fault_in("port", "the service has all ports, and each stays what it is; leave it out");
  } else if (*port > last_allowed) {
    backend.fault_in(
        "port", fmt::format("this is the first of {} ports, as many as the service has, and they "
                            "would end beyond {}; give {} or less",
                            service.count(), net::kL4PortMax, last_allowed));
  } else {
    return static_cast<uint16_t>(*port);
  }
  return service.first;
}

uint32_t PortLines::find(const ServicePorts& ports) const {
  const auto behind = by_first_.upper_bound(ports.last);
  if (behind == by_first_.begin()) return 0;
  const Noted& before = std::prev(behind)->second;
  return before.last >= ports.first ? before.line : 0;
}

uint32_t PortLines::note(const ServicePorts& ports, uint32_t line) {
  const uint32_t earlier = find(ports);
  if (earlier == 0) by_first_.emplace(ports.first, Noted{ports.last, line});
  return earlier;
}

std::vector<PortSpan> most_specific(std::span<const PortSpan> services) {
  std::vector<PortSpan> by_count(services.begin(), services.end());
  std::ranges::stable_sort(by_count, {}, [](const PortSpan& span) { return span.ports.count(); });
  std::map<uint32_t, PortSpan> taken;  // by first port
  for (const PortSpan& span : by_count) {
    uint32_t from = span.ports.first;
    auto next = taken.lower_bound(from);
    if (next != taken.begin()) {
      from = std::max(from, uint32_t{std::prev(next)->second.ports.last} + 1);
    }
    // What lies between those that are more specific.
    while (from <= span.ports.last) {
      uint32_t end = uint32_t{span.ports.last} + 1;
      if (next != taken.end()) end = std::min(end, next->first);
      if (from < end) {
        const ServicePorts free{static_cast<uint16_t>(from), static_cast<uint16_t>(end - 1)};
        taken.emplace_hint(next, from, PortSpan{free, span.service});
      }
      if (next == taken.end()) break;
      from = uint32_t{next->second.ports.last} + 1;
      ++next;
    }
  }
  std::vector<PortSpan> spans;
  for (const auto& [first, span] : taken) spans.push_back(span);
  return spans;
}

}  // namespace roost::lb
