// Where services and backends stand in the workers' tables, and where they stand after the next
// reading of the configuration (docs/decisions/0011-reload.md).
//
// Connections name their backend by its index, and replies their service by its. So an index
// belongs to the same service or backend for as long as connections refer to it: what a new
// configuration does not name is removed, which means that it gets no new connections, and its
// index is free once its last one is over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "apps/lb/config/config.h"
#include "roost/balance/least_connections.h"
#include "roost/balance/maglev.h"
#include "roost/base/result.h"
#include "roost/conntrack/connection_state.h"
#include "roost/net/address.h"
#include "roost/net/headers.h"

namespace roost::lb {

enum class Registration : uint8_t { kFree, kConfigured, kRemoved };

// A backend is an address and port in a service; its name is a label. One that serves two services
// is two of these.
struct RegisteredBackend {
  Registration use = Registration::kFree;
  std::string name{};
  net::IpAddress address{};
  uint16_t port = 0;               // the first of as many as its service has
  uint32_t service = 0;            // its index
  uint32_t configured_weight = 0;  // 0 when removed
  bool is_fallback = false;
  uint32_t weight = 0;  // in force
  bool is_new = true;   // it was not there in the registry before
};

// A service is a virtual address, port and protocol in a mode, with or without the PROXY header:
// another mode makes it another one, another algorithm does not, nor whether it makes connections.
// Of a range the first port counts: by it ports become backends' ports, wherever the range ends.
struct RegisteredService {
  Registration use = Registration::kFree;
  std::string name{};
  net::IpAddress address{};
  ServicePorts ports{};
  net::IpProtocol protocol{};
  Mode mode = Mode::kNat;
  Algorithm algorithm = Algorithm::kMaglev;
  bool is_one_packet = false;
  bool refuses = false;
  bool sends_proxy_header = false;
  conntrack::StateTimeouts timeouts{};  // 0: the balancer's
  std::vector<uint32_t> backends{};     // indices, in the order of the file; not those removed
};

struct FamilyRegistry {
  std::vector<RegisteredService> services{};
  std::vector<RegisteredBackend> backends{};
};

struct BackendRegistry {
  struct Place {
    size_t family = 0;
    uint32_t service = 0;  // index
  };
  static constexpr size_t kBackendsMax = 65'536;  // of a family, removed ones included

  std::array<FamilyRegistry, 2> families{};  // IPv4, IPv6
  std::vector<Place> services{};             // those configured, in the order of the file

  [[nodiscard]] const RegisteredService& service(const Place& place) const {
    return families[place.family].services[place.service];
  }
};

// By family and backend index: whether connections refer to it.
using BackendUse = std::array<std::vector<bool>, 2>;

// The registry of a configuration that follows `before`; `has_connections` has an element for each
// of its backend indices. Weights in force are those while all backends are up. Refused: too many
// removed backends that still have connections.
[[nodiscard]] Result<BackendRegistry> next_registry(const Config& config,
                                                    const BackendRegistry& before,
                                                    const BackendUse& has_connections);
// That of a configuration with which the balancer starts.
[[nodiscard]] Result<BackendRegistry> first_registry(const Config& config);

// Whether the backend at this index is usable: up, by its operator and its checks.
using IsUp = std::function<bool(uint32_t backend)>;

// The weights of a service's backends, in their order, that are in force while these are up: those
// configured, but that fallback backends have one only if no other backend has.
[[nodiscard]] std::vector<uint32_t> weights_in_force(const FamilyRegistry& family, size_t service,
                                                     const IsUp& is_up);
// The same, and the registry has them.
std::vector<uint32_t> put_in_force(FamilyRegistry& family, size_t service, const IsUp& is_up);
// Whether new connections of the service go to its fallback backends.
[[nodiscard]] bool uses_fallback(const FamilyRegistry& family, size_t service);

// How new connections of a service find their backends: by a hash, or by their counts.
using BackendChoice = std::variant<balance::Maglev, balance::LeastConnections>;

// That of the service at this index, by a weight for each of its backends. Refused, with the
// service's name: weights too far apart.
[[nodiscard]] Result<BackendChoice> make_choice(const FamilyRegistry& family, size_t service,
                                                std::span<const uint32_t> weights, uint64_t seed);
struct ServiceChoices {
  BackendChoice in_force;
  // Of a hash, by the weights configured, if others are in force: backends that were drained, or
  // are failing, have connections of before.
  std::optional<BackendChoice> undrained{};
};

// Those of all services, by index.
[[nodiscard]] Result<std::vector<ServiceChoices>> make_choices(const FamilyRegistry& family,
                                                               uint64_t seed);

// The balancer's addresses beside the ports' own: virtual ones of services that are not free, and
// those of `fullnat`.
[[nodiscard]] std::vector<net::IpAddress> balancer_addresses(const Config& config,
                                                             const BackendRegistry& registry);

}  // namespace roost::lb
