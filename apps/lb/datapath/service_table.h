// The services of one family and their backends: which service a packet is for, and which backend a
// new connection of it goes to.
//
// By a hash the backend depends on the flow or its client, the backends' names and weights, and the
// configured seed only (roost/balance/maglev.h), so that two balancers, and one before and after a
// restart, choose alike. By counts (roost/balance/least_connections.h) it depends on the
// connections that this worker has.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/lb/config/service_ports.h"
#include "apps/lb/datapath/backend_registry.h"
#include "apps/lb/datapath/port_spans.h"
#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/conntrack/connection_state.h"
#include "roost/hash/keyed_hash.h"
#include "roost/l3/next_hops.h"
#include "roost/net/flow_key.h"
#include "roost/table/flow_table.h"

namespace roost::lb {

// What went to and came from a backend. What each counts: kBackendCounters.
struct BackendCounters {
  uint64_t flows = 0;
  uint64_t flows_over = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;

  // Live ones, and expired ones not yet reclaimed.
  [[nodiscard]] uint64_t live() const { return flows - flows_over; }
  BackendCounters& operator+=(const BackendCounters& other);
};

inline constexpr std::array kBackendCounters = {
    Counter{"flows", &BackendCounters::flows, "connections created, by service and backend"}
        .with_metric("backend_flows")
        .with_text("flows"),
    Counter{"packets", &BackendCounters::packets, "packets forwarded in both directions"}
        .with_metric("backend_packets")
        .with_text("packets"),
    Counter{"bytes", &BackendCounters::bytes, "bytes of whole frames forwarded in both directions"}
        .with_metric("backend_bytes")
        .with_text("bytes", 16),
    Counter{"flows_over", &BackendCounters::flows_over,
            "of the connections, those that ended, expired or were deleted"}};
static_assert(lists_all(kBackendCounters));

// Those that a backend is reported by stand first; of those that are over, what is left is shown.
inline constexpr std::span kReportedBackendCounters = std::span(kBackendCounters).first<3>();

inline BackendCounters& BackendCounters::operator+=(const BackendCounters& other) {
  add_counters<BackendCounters>(kBackendCounters, other, *this);
  return *this;
}

// Immutable but for the counters, the neighbours and the weights, until another one replaces it;
// one worker uses it.
template <class Address>
class ServiceTable {
 public:
  using Key = net::FlowKey<Address>;
  using Endpoint = net::Endpoint<Address>;

  static constexpr uint16_t kNoSide = UINT16_MAX;

  // A backend in a service. One that serves two services is two of these.
  struct Backend {
    Endpoint endpoint{};          // of several ports, the first; see is_ipv4
    Endpoint virtual_endpoint{};  // its service's, likewise
    // Its neighbour; the index may be another's by now, if it is not pinned.
    l3::NeighbourIndex neighbour = l3::kNoNeighbour;
    uint32_t service = 0;
    uint16_t weight = 0;      // 0: no new connections
    uint16_t timeouts = 0;    // which are its service's: see timeouts_of()
    uint16_t side = kNoSide;  // the port by which it is reached, and has to answer
    Mode mode = Mode::kNat;
    bool sends_proxy_header = false;
    bool is_ipv4 = false;          // in a service over IPv6: its address is an IPv4-mapped one
    uint32_t local_port_turn = 0;  // of `fullnat`: counts its connections
    BackendCounters counters{};

    // Where packets for this port of its service go.
    [[nodiscard]] Endpoint end_for(uint16_t virtual_port) const {
      return {endpoint.address, ServicePorts::moved(virtual_port, {.from = virtual_endpoint.port,
                                                                   .to = endpoint.port})};
    }
    // As what the client knows this port of it.
    [[nodiscard]] Endpoint virtual_end_for(uint16_t port) const {
      return {virtual_endpoint.address,
              ServicePorts::moved(port, {.from = endpoint.port, .to = virtual_endpoint.port})};
    }
  };

  struct Service {
    Endpoint virtual_endpoint{};
    std::vector<uint32_t> backends;  // what the indices of the choices stand for
    ServiceChoices choices;
    Algorithm algorithm = Algorithm::kMaglev;
    Mode mode = Mode::kNat;
    bool is_one_packet = false;  // nothing is kept of its packets
    bool refuses = false;        // who finds no backend is told so
  };

  struct Config {
    std::vector<ServiceChoices> choices{};  // by service index
    uint64_t maglev_seed = 0;
    std::optional<uint64_t> hash_seed{};
    conntrack::StateTimeouts timeouts{};  // of services that have none of their own
    bool refuses_closed_ports = false;
  };

  // Services and backends stand at the indices of the registry. Refused: memory that cannot be
  // allocated, and more than 65,535 different timeouts.
  static Result<ServiceTable> create(const FamilyRegistry& registry, Config config);

  // Pins the backends' neighbours; `next_hops` must reach them all.
  void pin_neighbours(l3::NextHops& next_hops);
  // Finds the sides of backends that have none yet.
  void find_sides(l3::NextHops& next_hops);

  // Becomes `next`, whose registry follows this one's: backends that stay keep counters and
  // neighbours. What it was is in `next` afterwards. O(backends); allocates nothing.
  void replace_by(ServiceTable& next);

  // The service with the destination of `key`. Constant time if one has this port alone, or none
  // has several; else O(log of the stretches that ranges of ports are cut into).
  [[nodiscard]] std::optional<uint32_t> find(const Key& key) {
    const uint32_t* service = by_destination_.find(destination_of(key));
    if (service != nullptr) return *service;
    if (destination_spans_.is_empty()) return {};
    return destination_spans_.find(key.destination, key.protocol, key.destination_port);
  }

  // The backend for a new connection; nothing when all have weight 0. One that was there before us
  // (`is_midstream`) gets the one that it has, which may have been drained since. A client that is
  // a backend itself gets another one: it would have to answer itself.
  [[nodiscard]] std::optional<uint32_t> pick_backend(uint32_t service, const Key& key,
                                                     bool is_midstream = false) const {
    const ServiceChoices& choices = services_[service].choices;
    const bool is_by_undrained = is_midstream && choices.undrained;
    const std::optional<size_t> picked =
        pick(services_[service], is_by_undrained ? *choices.undrained : choices.in_force, key);
    if (!picked) return {};
    const uint32_t backend = services_[service].backends[*picked];
    if (backends_[backend].endpoint.address != key.source) return backend;
    return other_backend(service, key, *picked);
  }

  // Whether a client's packet of an unknown connection that began before may create it. By counts
  // nothing says which backend has it; in mode `nat` that one's own next packet does.
  [[nodiscard]] bool may_pick_up(uint32_t service) const {
    return is_by_hash(service) || services_[service].mode != Mode::kNat;
  }
  // Whether a connection's packets go to the same backend without an entry for it.
  [[nodiscard]] bool is_by_hash(uint32_t service) const {
    return services_[service].algorithm != Algorithm::kLeastConnections;
  }

  // The one backend of mode `nat` that sends from the source of `key`; nothing if two services have
  // it, and so the virtual address is not certain. As long as find() takes.
  [[nodiscard]] std::optional<uint32_t> find_backend(const Key& key) {
    const uint32_t* backend = by_source_.find(source_of(key));
    std::optional<uint32_t> found;
    if (backend != nullptr) {
      found = *backend;
    } else if (!source_spans_.is_empty()) {
      found = source_spans_.find(key.source, key.protocol, key.source_port);
    }
    return found == kAmbiguous ? std::nullopt : found;
  }

  // The same for all packets of a flow in one direction.
  [[nodiscard]] uint16_t flow_hash(const Key& key) const {
    return static_cast<uint16_t>(maglev_hash_.template hash<sizeof(Key)>(&key).bits >> 48);
  }

  // New connections of the service go to its backends by these weights from now on, one for each,
  // for which `choice` was made; what it had and does not need any more is in `choice` afterwards.
  // Connections stay where they are. Allocates nothing.
  void change_weights(uint32_t service, std::span<const uint32_t> weights, BackendChoice& choice);

  // By which connections of a backend live. Constant time; services of equal timeouts share a
  // place, so that where none has its own every packet finds the same.
  [[nodiscard]] const conntrack::StateTimeouts& timeouts_of(const Backend& backend) const {
    return timeouts_[backend.timeouts];
  }
  // Services get these where they have none of their own, connections from their next packet on.
  // O(services); allocates nothing.
  void set_timeouts(const conntrack::StateTimeouts& timeouts);

  // Whether some service has this address. O(log services).
  [[nodiscard]] bool is_virtual_address(const Address& address) const {
    return std::ranges::binary_search(virtual_addresses_, address);
  }
  // Whether packets for an address of a service, but for none of its ports, are answered.
  [[nodiscard]] bool refuses_closed_ports() const { return refuses_closed_ports_; }
  // Whether some backend has this address. O(log backends).
  [[nodiscard]] bool is_backend_address(const Address& address) const {
    return std::ranges::binary_search(backend_addresses_, address);
  }

  // Whether there is one at an index that memory of another process names.
  [[nodiscard]] bool has_backend(uint32_t index) const {
    return index < backends_.size() && backends_[index].endpoint.port != 0;
  }
  // Connections that were adopted, and over at once, were their backends' too.
  void count_adopted_over() {
    for (Backend& backend : backends_) backend.counters.flows += backend.counters.flows_over;
  }

  [[nodiscard]] const Service& service(uint32_t index) const { return services_[index]; }
  [[nodiscard]] const std::vector<Service>& services() const { return services_; }
  [[nodiscard]] Backend& backend(uint32_t index) { return backends_[index]; }
  [[nodiscard]] const Backend& backend(uint32_t index) const { return backends_[index]; }
  [[nodiscard]] const std::vector<Backend>& backends() const { return backends_; }
  // The sum of backends whose indices were given away.
  [[nodiscard]] const BackendCounters& forgotten() const { return forgotten_; }

 private:
  using Index = FlowTable<Key, uint32_t>;

  // The index in the service's list. Constant time by a hash, O(backends) by counts.
  [[nodiscard]] std::optional<size_t> pick(const Service& service, const BackendChoice& choice,
                                           const Key& key) const {
    const Key client{.source = key.source};
    const Key& hashed = service.algorithm == Algorithm::kSource ? client : key;
    const Hash64 hash = maglev_hash_.template hash<sizeof(Key)>(&hashed);
    if (const auto* maglev = std::get_if<balance::Maglev>(&choice)) return maglev->pick(hash.bits);
    const auto live = [&](size_t i) { return backends_[service.backends[i]].counters.live(); };
    return std::get_if<balance::LeastConnections>(&choice)->pick(hash.bits, live);
  }

  // The next one in the service's list at another address than the client's. Where the backend sees
  // a local address instead (`fullnat`), itself, if it is the only one. O(backends).
  [[nodiscard]] std::optional<uint32_t> other_backend(uint32_t service, const Key& key,
                                                      size_t picked) const;

  static constexpr uint32_t kAmbiguous = PortSpans<Address>::kAmbiguous;

  ServiceTable(Index by_destination, Index by_source, uint64_t maglev_seed)
      : by_destination_(std::move(by_destination)),
        by_source_(std::move(by_source)),
        maglev_hash_(maglev_seed) {}
  // Whose ports are, and what backends send from: single ports in the tables, the others in spans.
  void place_ports(const FamilyRegistry& registry);
  void note_sources(const FamilyRegistry& registry, const PortSpan& span);
  void note_single_sources(const FamilyRegistry& registry, uint32_t service);
  // The place of each service's timeouts. Refused: too many different ones.
  Result<std::vector<uint16_t>> place_timeouts(const FamilyRegistry& registry,
                                               const conntrack::StateTimeouts& others);

  // What all packets to a service share.
  [[nodiscard]] static Key destination_of(const Key& key) {
    return {.destination = key.destination,
            .destination_port = key.destination_port,
            .protocol = key.protocol};
  }
  // What all packets from a backend share.
  [[nodiscard]] static Key source_of(const Key& key) {
    return {.source = key.source, .source_port = key.source_port, .protocol = key.protocol};
  }

  Index by_destination_;
  Index by_source_;
  PortSpans<Address> destination_spans_;
  PortSpans<Address> source_spans_;
  KeyedHash maglev_hash_;
  bool refuses_closed_ports_ = false;
  std::vector<Service> services_;
  std::vector<Backend> backends_;
  std::vector<conntrack::StateTimeouts> given_timeouts_;  // by place; 0: that of set_timeouts()
  std::vector<conntrack::StateTimeouts> timeouts_;        // the same, complete
  std::vector<bool> is_kept_;                             // by backend: it was there before
  std::vector<Address> virtual_addresses_;                // sorted
  std::vector<Address> backend_addresses_;                // sorted
  BackendCounters forgotten_{};
};

extern template class ServiceTable<net::Ipv4Address>;
extern template class ServiceTable<net::Ipv6Address>;

}  // namespace roost::lb
