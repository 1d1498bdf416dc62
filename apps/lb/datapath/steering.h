// Which worker a packet of the load balancer belongs to: the owner of its client's address, or of
// the local port that it is sent to.
#pragma once

#include <cstddef>
#include <optional>

#include "apps/lb/datapath/connections.h"
#include "apps/lb/datapath/service_table.h"
#include "roost/net/flow_key.h"
#include "roost/node/flow_owner.h"

namespace roost::lb {

// Towards a virtual address the client is the source; from a backend it is the destination. What is
// neither is dropped, and may be so by the worker that received it. Addresses alone decide, so a
// fragment that has no ports goes where its first one went. O(log services and backends).
template <class Address>
[[nodiscard]] size_t owner_of(const net::FlowKey<Address>& key,
                              const ServiceTable<Address>& services,
                              const conntrack::BindablePorts<Address>& local_ports,
                              const node::FlowOwner& owner) {
  if (services.is_virtual_address(key.destination)) return owner.owner_of(key.source);
  if (const auto worker = local_ports.worker_of(key.destination)) return *worker;
  if (services.is_backend_address(key.source)) return owner.owner_of(key.destination);
  return owner.worker();
}

// Whether an IPv4 packet is of a connection among those of IPv6, whose backend speaks IPv4: it is
// for a local address that only such ones have. O(log local addresses); constant if there are none.
[[nodiscard]] inline bool is_for_ipv6(const net::FlowKey4& key,
                                      const conntrack::BindablePorts<net::Ipv6Address>& ports) {
  return ports.has_second() && ports.worker_of(net::ipv4_mapped(key.destination)).has_value();
}

// The worker that the packet is to be handed off to; none when it is this one's, or was handed off
// already. `key` is the packet's own, or what the other end would send of the flow that it is
// about.
template <class Address>
[[nodiscard]] std::optional<size_t> other_owner_of(
    const net::Packet& packet, const net::FlowKey<Address>& key,
    const ServiceTable<Address>& services, const conntrack::BindablePorts<Address>& local_ports,
    const node::FlowOwner& owner) {
  if (!owner.is_shared() || packet.origin != net::PacketOrigin::kPort) return {};
  const size_t worker = owner_of(key, services, local_ports, owner);
  return worker == owner.worker() ? std::nullopt : std::optional(worker);
}

}  // namespace roost::lb
