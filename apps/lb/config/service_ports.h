// The ports of a service: one, a range, or all of them (docs/decisions/0039-port-ranges.md).
//
// Of several services of one address and protocol the most specific one has a port: one port goes
// before a range, and a range before all. Ranges do not overlap.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/config/toml_table.h"
#include "roost/net/address.h"
#include "roost/net/headers.h"

namespace roost::lb {

enum class PortsKind : uint8_t { kOne, kRange, kAll };

// Where ports begin, and where as many others do.
struct PortMove {
  uint16_t from = 0;
  uint16_t to = 0;
};

struct ServicePorts {
  uint16_t first = 0;
  uint16_t last = 0;

  static constexpr ServicePorts one(uint16_t port) { return {port, port}; }
  // Port 0 is nobody's.
  static constexpr ServicePorts all() { return {1, net::kL4PortMax}; }

  [[nodiscard]] constexpr uint32_t count() const { return uint32_t{last} - first + 1; }
  [[nodiscard]] constexpr bool is_one() const { return first == last; }
  [[nodiscard]] constexpr PortsKind kind() const {
    if (is_one()) return PortsKind::kOne;
    return *this == all() ? PortsKind::kAll : PortsKind::kRange;
  }
  // A port keeps its place: where this one of those that begin at `from` is among those at `to`,
  // which must be there.
  [[nodiscard]] static constexpr uint16_t moved(uint16_t port, const PortMove& move) {
    return static_cast<uint16_t>(move.to + (port - move.from));
  }
  // All of these, which are some of those that begin at `from`.
  [[nodiscard]] constexpr ServicePorts moved(const PortMove& move) const {
    return {moved(first, move), moved(last, move)};
  }
  // As many ports from `port` on, which must be there.
  [[nodiscard]] constexpr ServicePorts moved_to(uint16_t port) const {
    return moved({.from = first, .to = port});
  }
  // As a configuration has them: "80", "8000-8099", "any".
  [[nodiscard]] std::string text() const;

  auto operator<=>(const ServicePorts&) const = default;
};

// "198.51.100.80:8000-8099".
[[nodiscard]] std::string endpoint_text(const net::IpAddress& address, const ServicePorts& ports);

// Reads a service's `port`; nothing when it is absent or refused. `toml` is what `table` reads.
[[nodiscard]] std::optional<ServicePorts> read_ports(const toml::table& toml,
                                                     config::TomlTable& table);

// The first of a backend's ports, of which it has as many as its service.
[[nodiscard]] uint16_t read_backend_port(config::TomlTable& backend, const ServicePorts& service);

// Ports that do not overlap, and the line of each.
class PortLines {
 public:
  // The line of ports given earlier that these overlap; 0 when there are none, and these are noted.
  uint32_t note(const ServicePorts& ports, uint32_t line);
  // The same, and nothing is noted. O(log ports).
  [[nodiscard]] uint32_t find(const ServicePorts& ports) const;

 private:
  struct Noted {
    uint16_t last = 0;
    uint32_t line = 0;
  };
  std::map<uint16_t, Noted> by_first_;
};

// The ports of a service that no more specific one takes.
struct PortSpan {
  ServicePorts ports{};
  uint32_t service = 0;  // index
};

// Whose each port of an address and protocol is, by all services there with all their ports: in
// order, without overlap. O(n log n) where ranges do not overlap.
[[nodiscard]] std::vector<PortSpan> most_specific(std::span<const PortSpan> services);

}  // namespace roost::lb
