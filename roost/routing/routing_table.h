// Where packets go: the routes of a configuration and the networks of its ports as one table, which
// all workers share and which is immutable; and what a worker keeps beside it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/io/fib.h"
#include "roost/l3/neighbour_table.h"
#include "roost/l3/network_config.h"
#include "roost/l3/next_hops.h"

namespace roost::routing {

// What a packet's destination stands for.
struct NextHop {
  uint16_t out_port = 0;
  std::optional<net::IpAddress>
      gateway{};  // nothing: the destination itself, on the port's network

  bool operator==(const NextHop&) const = default;
};

struct RoutingTable {
  static constexpr io::Fib::Hop kLocal = 1;  // for the function itself; others follow

  io::Fib fib;
  std::vector<NextHop> hops;           // by number; the first two mean nothing
  std::vector<io::Fib::Route> routes;  // what `fib` was made from, own addresses included

  // Hops of `before` keep their numbers, so that counters do. EAL must run. Errors: memory, too
  // many hops.
  static Result<std::shared_ptr<const RoutingTable>> create(const l3::NetworkConfig& network,
                                                            std::span<const NextHop> before = {});

  // The port by which packets for an address leave; nothing if no route and no network has it.
  template <class Address>
  [[nodiscard]] std::optional<uint16_t> out_port_of(const Address& destination) const {
    std::array<io::Fib::Hop, 1> hop;
    fib.find(std::span(&destination, 1), hop);
    if (hop[0] == io::Fib::kNoHop || hop[0] == kLocal) return {};
    return hops[hop[0]].out_port;
  }
};

// Makes the table of a function's configuration, from its network. EAL must run; errors as above.
template <class Config>
[[nodiscard]] std::optional<Error> make_table(Config& config) {
  auto table = RoutingTable::create(config.network);
  if (!table) return table.error();
  config.table = std::move(table).value();
  return {};
}

// The next hops of a function whose routes are in such a table, and so not among them; and the
// function's own addresses, beside the ports'. Errors: memory.
template <class Config>
[[nodiscard]] Result<l3::NextHops> make_next_hops(
    const Config& config, std::span<const net::MacAddress> device_macs,
    const std::vector<net::IpAddress>& local_addresses = {}) {
  l3::NetworkConfig connected = config.network;
  connected.routes.clear();
  return l3::NextHops::create({.network = connected,
                               .device_macs = device_macs,
                               .local_addresses = local_addresses,
                               .tick_seconds = config.tick_seconds(),
                               .hash_seed = config.hash_seed});
}

// What each counts: kHopCounters.
struct HopCounters {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};
inline constexpr std::array kHopCounters = {
    Counter{"packets", &HopCounters::packets, "packets forwarded by a next hop"}.with_text(
        "packets"),
    Counter{"bytes", &HopCounters::bytes, "bytes of whole frames forwarded by a next hop"}
        .with_text("bytes", 16)};
static_assert(lists_all(kHopCounters));

// One worker's.
struct HopState {
  l3::NeighbourIndex neighbour = l3::kNoNeighbour;  // of a gateway, if it is still that
  HopCounters counters{};
};

struct WorkerRoutes {
  std::shared_ptr<const RoutingTable> table{};  // null: nothing is forwarded by a route
  std::vector<HopState> hops{};                 // one for each of the table
  HopCounters others{};  // of packets that took another way: a port's default neighbour, a wire
  uint64_t lookup_count = 0;  // packets whose destination was looked up, which a trace shows

  // `table` may be null.
  static WorkerRoutes of(std::shared_ptr<const RoutingTable> table) {
    const size_t count = table == nullptr ? 0 : table->hops.size();
    return {std::move(table), std::vector<HopState>(count), {}, 0};
  }

  // Other routes are in force from now on, with the counters of the hops that were; what they
  // replace is in `next` afterwards, to be freed by the caller. O(hops); allocates nothing.
  void exchange(WorkerRoutes& next) {
    std::copy(hops.begin(), hops.end(), next.hops.begin());
    std::swap(table, next.table);
    std::swap(hops, next.hops);
  }
};

}  // namespace roost::routing
