// Who has a port of an address where ranges of ports have owners: asked for after the table of
// single ports has said that it does not know.
//
// Stretches of ports in one sorted array, searched by halves. Stretches that overlap have no
// certain owner where they do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "apps/lb/config/service_ports.h"
#include "roost/net/headers.h"

namespace roost::lb {

// Built once, then read by one worker.
template <class Address>
class PortSpans {
 public:
  static constexpr uint32_t kAmbiguous = UINT32_MAX;

  void add(const Address& address, net::IpProtocol protocol, const ServicePorts& ports,
           uint32_t owner) {
    spans_.push_back({address, protocol, ports.first, ports.last, owner});
  }
  // Makes what was added searchable. O(n log n).
  void seal();

  [[nodiscard]] bool is_empty() const { return spans_.empty(); }
  // The owner, or kAmbiguous; nothing when the port has none. O(log spans).
  [[nodiscard]] std::optional<uint32_t> find(const Address& address, net::IpProtocol protocol,
                                             uint16_t port) const {
    const auto behind =
        std::ranges::upper_bound(spans_, std::tuple(address, protocol, port), {}, &Span::begin);
    if (behind == spans_.begin()) return {};
    const Span& span = *(behind - 1);
    if (span.address != address || span.protocol != protocol || port > span.last) return {};
    return span.owner;
  }

 private:
  struct Span {
    Address address{};
    net::IpProtocol protocol{};
    uint16_t first = 0;
    uint16_t last = 0;
    uint32_t owner = 0;

    [[nodiscard]] auto begin() const { return std::tuple(address, protocol, first); }
  };

  std::vector<Span> spans_;
};

template <class Address>
void PortSpans<Address>::seal() {
  // Where stretches begin and end. While one is open, the sum of the owners is its owner.
  struct Edge {
    Address address{};
    net::IpProtocol protocol{};
    uint32_t port = 0;
    int64_t owner = 0;
    int opened = 0;
  };
  std::vector<Edge> edges;
  for (const Span& span : spans_) {
    edges.push_back({span.address, span.protocol, span.first, span.owner, 1});
    edges.push_back(
        {span.address, span.protocol, uint32_t{span.last} + 1, -int64_t{span.owner}, -1});
  }
  std::ranges::sort(edges, {}, [](const Edge& edge) {
    return std::tuple(edge.address, edge.protocol, edge.port);
  });
  spans_.clear();
  int open = 0;
  int64_t owner = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    open += edge.opened;
    owner += edge.owner;
    if (open == 0 || edges[i + 1].port == edge.port) continue;
    spans_.push_back({edge.address, edge.protocol, static_cast<uint16_t>(edge.port),
                      static_cast<uint16_t>(edges[i + 1].port - 1),
                      open == 1 ? static_cast<uint32_t>(owner) : kAmbiguous});
  }
}

}  // namespace roost::lb
