// The hosts that were seen and the services that answered, in rooms of a fixed size.
//
// A host's services stand in an array of its own, the latest seen first: one that answers at every
// port pushes out its own services and nobody else's. A host leaves with all of them.
//
// I1 The hosts are a SeenList.
// I2 A host has `services_max` services at most, no two of one protocol and port, and they stand in
//    falling order of when they were seen last.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "roost/assets/seen_list.h"
#include "roost/assets/syn_fingerprint.h"
#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"
#include "roost/net/address.h"
#include "roost/net/headers.h"

namespace roost::assets {

// Key of a flow table. An IPv4 address is a mapped one (net::key_address).
struct HostKey {
  net::Ipv6Address address{};
  net::MacAddress mac{};
  uint16_t vlan = 0;        // of the outer tag, 0: none
  uint16_t inner_vlan = 0;  // of the second one

  [[nodiscard]] net::IpAddress ip() const { return net::address_of_key(address); }
  auto operator<=>(const HostKey&) const = default;
};
static_assert(sizeof(HostKey) == 26, "hashed and compared as bytes, without padding");

struct HostFacts {
  std::optional<SynFingerprint> syn{};  // of its latest SYN
  uint16_t service_count = 0;
};
using Host = SeenList<HostKey, HostFacts>::Entry;

struct Service {
  net::IpProtocol protocol{};
  uint16_t port = 0;
  Tick first{};
  Tick last{};
};

// found = evicted + there; of services, those that left with their host besides.
struct AssetCounters {
  uint64_t hosts_found = 0;
  uint64_t hosts_evicted = 0;
  uint64_t services_found = 0;
  uint64_t services_evicted = 0;
  uint64_t services_left = 0;
};
inline constexpr std::array kAssetCounters = {
    Counter{"hosts_found", &AssetCounters::hosts_found,
            "hosts found; found = evicted + those that are there"},
    Counter{"hosts_evicted", &AssetCounters::hosts_evicted,
            "hosts that gave way to another one, having been unseen for longest"},
    Counter{"services_found", &AssetCounters::services_found,
            "services found; found = evicted + left + those that are there"},
    Counter{"services_evicted", &AssetCounters::services_evicted,
            "services that gave way to another one of their host"},
    Counter{"services_left", &AssetCounters::services_left, "services that left with their host"}};
static_assert(lists_all(kAssetCounters));

// One thread at a time.
class AssetTable {
 public:
  struct Config {
    uint32_t hosts_max = 0;
    uint16_t services_max = 0;  // of each host
    std::optional<uint64_t> hash_seed{};
  };

  // Errors: memory is unavailable.
  static Result<AssetTable> create(const Config& config);

  // The host is there, and the latest seen. Constant time.
  SeenList<HostKey, HostFacts>::Seen see(const HostKey& key, Tick now);
  // A host that is there answered; whether that is new. Linear in its services.
  bool see_service(uint32_t place, net::IpProtocol protocol, uint16_t port, Tick now);

  // nullptr: it is not there. It does not count as seen.
  [[nodiscard]] Host* find(const HostKey& key) { return hosts_.find(key); }
  [[nodiscard]] Host& at(uint32_t place) { return hosts_.at(place); }
  // In the order of their places, which are theirs until they leave.
  [[nodiscard]] std::span<const Host> hosts() const { return hosts_.entries(); }
  // The latest seen first.
  [[nodiscard]] std::span<const Service> services(const Host& host) const;
  [[nodiscard]] uint16_t services_max() const { return services_max_; }

  [[nodiscard]] const AssetCounters& counters() const { return counters_; }
  [[nodiscard]] uint64_t memory_bytes() const {
    return hosts_.memory_bytes() + services_.size() * sizeof(Service);
  }
  // One by one: time linear in the hosts.
  [[nodiscard]] uint64_t count_services() const;
  // Whether the invariants hold and the counters are right. Time linear in the hosts.
  [[nodiscard]] bool audit();

 private:
  AssetTable(SeenList<HostKey, HostFacts> hosts, Arena memory, const Config& config)
      : hosts_(std::move(hosts)),
        memory_(std::move(memory)),
        services_(reinterpret_cast<Service*>(memory_.data()),
                  size_t{config.hosts_max} * config.services_max),
        services_max_(config.services_max) {}

  SeenList<HostKey, HostFacts> hosts_;
  Arena memory_;
  std::span<Service> services_;  // in the arena: services_max_ for each place of a host
  uint16_t services_max_;
  AssetCounters counters_;
};

}  // namespace roost::assets
