// Everything the load balancer knows while it runs: next hops, and for each family its services and
// connections. Made from a configuration, used by one worker.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/datapath/backend_registry.h"
#include "apps/lb/datapath/connections.h"
#include "apps/lb/datapath/service_table.h"
#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/conntrack/tracker.h"
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/local_delivery.h"
#include "roost/l3/next_hops.h"
#include "roost/l3/refusals.h"

namespace roost::lb {

// The worker that the state is of.
struct WorkerShare {
  // Memory for the connections of a family, 0 IPv4, 1 IPv6, with so many bytes.
  using Lend = std::function<Result<conntrack::TableMemory>(size_t family,
                                                            const conntrack::TableBytes& bytes)>;

  size_t worker = 0;
  size_t worker_count = 1;
  const BackendRegistry* registry = nullptr;  // where services and backends stand; else anew
  Lend lend{};                                // else their own
};

// Services and connections of one family. It stays where it is: the connections point to the
// services.
template <class Address, class Tables = conntrack::OwnTables>
class Family {
 public:
  using Tracker = conntrack::FamilyTracker<BackendReplies<Address>, Tables>;

  static Result<std::unique_ptr<Family>> create(const Config& config,
                                                const FamilyRegistry& registry,
                                                l3::NextHops& next_hops, const WorkerShare& share,
                                                const Tables& tables);

  [[nodiscard]] ServiceTable<Address>& services() { return services_; }
  [[nodiscard]] const ServiceTable<Address>& services() const { return services_; }
  [[nodiscard]] Tracker& tracker() {
    ROOST_ASSERT(tracker_.has_value());
    return *tracker_;
  }
  [[nodiscard]] const Tracker& tracker() const {
    ROOST_ASSERT(tracker_.has_value());
    return *tracker_;
  }
  // Whether each connection in adopted memory has a backend; only reads. Of memory that a process
  // left, also whether it can be read: see ConnectionTable::is_readable(). Linear.
  [[nodiscard]] bool has_backends();
  [[nodiscard]] bool is_readable()
    requires std::same_as<Tables, conntrack::OwnTables>;
  // The connections in adopted memory are this state's from now on, and their backends' in the
  // counts. Their clients' neighbours are found anew: an index of before is another's. Linear.
  void adopt();
  [[nodiscard]] auto& connections() { return tracker().connections(); }
  [[nodiscard]] const auto& connections() const { return tracker().connections(); }

 private:
  explicit Family(ServiceTable<Address> services) : services_(std::move(services)) {}

  ServiceTable<Address> services_;
  std::optional<Tracker> tracker_;  // there from create() on
};

// What a new configuration changes while packets flow, with all the memory that it needs.
struct StateUpdate {
  BackendRegistry registry{};  // follows the one in force
  std::vector<ServiceConfig> services{};
  uint64_t maglev_seed = 0;
  StateTimeouts timeouts{};
  l3::LocalAddresses local{};
  ServiceTable<net::Ipv4Address> ipv4;
  ServiceTable<net::Ipv6Address> ipv6;

  // Of a configuration, its registry, and the Maglev tables of both families.
  static Result<StateUpdate> create(const Config& config, const BackendRegistry& registry,
                                    const std::array<std::vector<ServiceChoices>, 2>& choices);
};

// `Tables`: see tables.h. The definitions are in state_impl.h.
template <class Tables>
class BasicState {
 public:
  // `device_macs`: of each port, for those whose configuration gives none. Errors: what the
  // configuration's reader cannot see, above all memory that cannot be allocated.
  static Result<BasicState> create(const Config& config,
                                   std::span<const net::MacAddress> device_macs,
                                   const WorkerShare& share = {}, const Tables& tables = {});

  [[nodiscard]] const Config& config() const { return config_; }
  // Where services and backends stand.
  [[nodiscard]] const BackendRegistry& registry() const { return registry_; }
  // The update is in force from now on; connections stay where they are. What it replaced is in
  // `update` afterwards. O(backends); allocates nothing.
  void exchange(StateUpdate& update);
  // Announces the local addresses on their ports, from the next turn on.
  void announce() { next_hops_.announce(); }
  // Connections get these from their next packet on, where their service has none of its own.
  void set_timeouts(const StateTimeouts& timeouts) {
    config_.timeouts = timeouts;
    ipv4_->services().set_timeouts(timeouts);
    ipv6_->services().set_timeouts(timeouts);
  }
  [[nodiscard]] l3::NextHops& next_hops() { return next_hops_; }
  [[nodiscard]] const l3::NextHops& next_hops() const { return next_hops_; }
  [[nodiscard]] Family<net::Ipv4Address, Tables>& ipv4() { return *ipv4_; }
  [[nodiscard]] const Family<net::Ipv4Address, Tables>& ipv4() const { return *ipv4_; }
  [[nodiscard]] Family<net::Ipv6Address, Tables>& ipv6() { return *ipv6_; }
  [[nodiscard]] const Family<net::Ipv6Address, Tables>& ipv6() const { return *ipv6_; }

  // The connections and fragments of both.
  [[nodiscard]] auto tracker() { return conntrack::Tracker(ipv4_->tracker(), ipv6_->tracker()); }
  [[nodiscard]] auto tracker() const {
    return conntrack::Tracker(std::as_const(*ipv4_).tracker(), std::as_const(*ipv6_).tracker());
  }
  [[nodiscard]] bool audit() { return tracker().audit() && next_hops_.neighbours().audit(); }

  // Both families': see Family.
  [[nodiscard]] bool has_backends() { return ipv4_->has_backends() && ipv6_->has_backends(); }
  [[nodiscard]] bool is_readable()
    requires std::same_as<Tables, conntrack::OwnTables>
  {
    return ipv4_->is_readable() && ipv6_->is_readable();
  }
  void adopt() {
    ipv4_->adopt();
    ipv6_->adopt();
  }
  // All connections are another process's from now on.
  void move_out() {
    ipv4_->connections().move_out();
    ipv6_->connections().move_out();
  }

  [[nodiscard]] l3::IcmpErrorCounters& icmp_errors() { return icmp_errors_; }
  [[nodiscard]] const l3::IcmpErrorCounters& icmp_errors() const { return icmp_errors_; }
  [[nodiscard]] l3::LocalCounters& local_counters() { return local_counters_; }
  [[nodiscard]] l3::ResetCounters& resets() { return resets_; }
  [[nodiscard]] const l3::ResetCounters& resets() const { return resets_; }

  // Counters of the backend at this index of the family: 0 IPv4, 1 IPv6.
  [[nodiscard]] const BackendCounters& backend_counters(size_t family, uint32_t index) const;
  // The sum of backends that are at no index any more.
  [[nodiscard]] BackendCounters forgotten() const;

 private:
  BasicState(Config config, BackendRegistry registry, l3::NextHops next_hops,
             std::unique_ptr<Family<net::Ipv4Address, Tables>> ipv4,
             std::unique_ptr<Family<net::Ipv6Address, Tables>> ipv6)
      : config_(std::move(config)),
        registry_(std::move(registry)),
        next_hops_(std::move(next_hops)),
        ipv4_(std::move(ipv4)),
        ipv6_(std::move(ipv6)) {}

  Config config_;
  BackendRegistry registry_;
  l3::NextHops next_hops_;
  l3::LocalCounters local_counters_{};
  std::unique_ptr<Family<net::Ipv4Address, Tables>> ipv4_;
  std::unique_ptr<Family<net::Ipv6Address, Tables>> ipv6_;
  l3::IcmpErrorCounters icmp_errors_{};
  l3::ResetCounters resets_{};
};

using State = BasicState<conntrack::OwnTables>;

extern template class Family<net::Ipv4Address>;
extern template class Family<net::Ipv6Address>;
extern template class BasicState<conntrack::OwnTables>;

}  // namespace roost::lb
