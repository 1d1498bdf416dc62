#include "apps/lb/datapath/backend_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace roost::lb {

namespace {

// What is there is removed unless it is placed again, and what was removed and has no connections
// any more is free: it got none since.
FamilyRegistry vacate(FamilyRegistry family, const std::vector<bool>& has_connections) {
  std::vector<bool> is_needed(family.services.size());
  for (size_t i = 0; i < family.backends.size(); ++i) {
    RegisteredBackend& backend = family.backends[i];
    if (backend.use == Registration::kRemoved && !has_connections[i]) backend = {};
    if (backend.use == Registration::kFree) continue;
    backend.use = Registration::kRemoved;
    backend.configured_weight = 0;
    backend.weight = 0;
    backend.is_new = false;
    is_needed[backend.service] = true;
  }
  for (size_t i = 0; i < family.services.size(); ++i) {
    RegisteredService& service = family.services[i];
    service.backends.clear();
    if (!is_needed[i]) service = {};
    if (service.use != Registration::kFree) service.use = Registration::kRemoved;
  }
  return family;
}

// Gives each service and backend of a configuration its index: the one that it had, else a free
// one.
class Placing {
 public:
  explicit Placing(FamilyRegistry& family) : family_(family) {
    for (uint32_t i = 0; i < family.services.size(); ++i) {
      const RegisteredService& registered = family.services[i];
      if (registered.use == Registration::kFree) {
        free_services_.push_back(i);
      } else {
        services_.emplace(identity_of(registered), i);
      }
    }
    for (uint32_t i = 0; i < family.backends.size(); ++i) {
      const RegisteredBackend& registered = family.backends[i];
      if (registered.use == Registration::kFree) {
        free_backends_.push_back(i);
      } else {
        backends_.emplace(std::tuple(registered.service, registered.address, registered.port), i);
      }
    }
  }

  uint32_t place(const ServiceConfig& config) {
    const auto known = services_.find(identity_of(config));
    const uint32_t index =
        known != services_.end() ? known->second : take_free(free_services_, family_.services);
    RegisteredService& registered = family_.services[index];
    registered = {.use = Registration::kConfigured,
                  .name = config.name,
                  .address = config.address,
                  .ports = config.ports,
                  .protocol = config.protocol,
                  .mode = config.mode,
                  .algorithm = config.algorithm,
                  .is_one_packet = config.is_one_packet,
                  .refuses = config.refuses,
                  .sends_proxy_header = config.sends_proxy_header,
                  .timeouts = config.timeouts};
    for (const BackendConfig& backend : config.backends) {
      registered.backends.push_back(place(backend, index));
    }
    return index;
  }

 private:
  uint32_t place(const BackendConfig& config, uint32_t service) {
    const auto known = backends_.find(std::tuple(service, config.address, config.port));
    const bool is_new = known == backends_.end();
    const uint32_t index = is_new ? take_free(free_backends_, family_.backends) : known->second;
    family_.backends[index] = {.use = Registration::kConfigured,
                               .name = config.name,
                               .address = config.address,
                               .port = config.port,
                               .service = service,
                               .configured_weight = config.weight,
                               .is_fallback = config.is_fallback,
                               .is_new = is_new};
    return index;
  }

  using Identity = std::tuple<net::IpAddress, PortsKind, uint16_t, net::IpProtocol, Mode, bool>;

  // What must be the same of a service in two configurations, or a registry and one.
  static Identity identity_of(const auto& service) {
    return {service.address,  service.ports.kind(), service.ports.first,
            service.protocol, service.mode,         service.sends_proxy_header};
  }

  template <class Registered>
  static uint32_t take_free(std::vector<uint32_t>& free, std::vector<Registered>& all) {
    if (free.empty()) {
      all.emplace_back();
      return static_cast<uint32_t>(all.size() - 1);
    }
    const uint32_t index = free.back();
    free.pop_back();
    return index;
  }

  FamilyRegistry& family_;
  std::map<Identity, uint32_t> services_;
  std::map<std::tuple<uint32_t, net::IpAddress, uint16_t>, uint32_t> backends_;
  std::vector<uint32_t> free_services_;
  std::vector<uint32_t> free_backends_;
};

bool is_always_up(uint32_t) { return true; }

}  // namespace

std::vector<uint32_t> weights_in_force(const FamilyRegistry& family, size_t service,
                                       const IsUp& is_up) {
  std::vector<uint32_t> weights;
  std::vector<bool> is_fallback;
  bool has_other = false;
  for (const uint32_t index : family.services[service].backends) {
    const RegisteredBackend& backend = family.backends[index];
    weights.push_back(is_up(index) ? backend.configured_weight : 0);
    is_fallback.push_back(backend.is_fallback);
    has_other |= !backend.is_fallback && weights.back() != 0;
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    if (has_other && is_fallback[i]) weights[i] = 0;
  }
  return weights;
}

std::vector<uint32_t> put_in_force(FamilyRegistry& family, size_t service, const IsUp& is_up) {
  std::vector<uint32_t> weights = weights_in_force(family, service, is_up);
  const std::vector<uint32_t>& indices = family.services[service].backends;
  for (size_t i = 0; i < indices.size(); ++i) family.backends[indices[i]].weight = weights[i];
  return weights;
}

bool uses_fallback(const FamilyRegistry& family, size_t service) {
  return std::ranges::any_of(family.services[service].backends, [&](uint32_t index) {
    return family.backends[index].is_fallback && family.backends[index].weight != 0;
  });
}

Result<BackendRegistry> next_registry(const Config& config, const BackendRegistry& before,
                                      const BackendUse& has_connections) {
  BackendRegistry registry;
  for (size_t family = 0; family < registry.families.size(); ++family) {
    registry.families[family] = vacate(before.families[family], has_connections[family]);
  }
  std::array<Placing, 2> placing = {Placing(registry.families[0]), Placing(registry.families[1])};
  for (const ServiceConfig& service : config.services) {
    const size_t family = service.address.is_ipv6() ? 1 : 0;
    registry.services.push_back({family, placing[family].place(service)});
  }
  for (const BackendRegistry::Place& place : registry.services) {
    put_in_force(registry.families[place.family], place.service, is_always_up);
  }
  for (const FamilyRegistry& family : registry.families) {
    if (family.backends.size() > BackendRegistry::kBackendsMax) {
      return Error{fmt::format(
          "{} backends are more than {}, those included that were removed and still have "
          "connections; end these (roost ctl flows delete), or name fewer",
          family.backends.size(), BackendRegistry::kBackendsMax)};
    }
  }
  return registry;
}

Result<BackendRegistry> first_registry(const Config& config) {
  return next_registry(config, {}, {});
}

Result<BackendChoice> make_choice(const FamilyRegistry& family, size_t service,
                                  std::span<const uint32_t> weights, uint64_t seed) {
  const RegisteredService& registered = family.services[service];
  std::vector<balance::WeightedBackend> weighted;
  for (size_t i = 0; i < weights.size(); ++i) {
    weighted.push_back({family.backends[registered.backends[i]].name, weights[i]});
  }
  const auto made = [&](auto choice) -> Result<BackendChoice> {
    if (choice) return BackendChoice(std::move(choice).value());
    return Error{"[[service]] " + registered.name + ": " + choice.error().message};
  };
  if (registered.algorithm == Algorithm::kLeastConnections) {
    return made(balance::LeastConnections::create({.backends = weighted, .seed = seed}));
  }
  return made(balance::Maglev::create({.backends = weighted, .seed = seed}));
}

Result<std::vector<ServiceChoices>> make_choices(const FamilyRegistry& family, uint64_t seed) {
  std::vector<ServiceChoices> choices;
  for (size_t service = 0; service < family.services.size(); ++service) {
    std::vector<uint32_t> weights;
    for (const uint32_t index : family.services[service].backends) {
      weights.push_back(family.backends[index].weight);
    }
    const std::vector<uint32_t> configured = weights_in_force(family, service, is_always_up);
    Result<BackendChoice> choice = make_choice(family, service, weights, seed);
    if (!choice) return choice.error();
    choices.push_back({std::move(choice).value()});
    const bool is_hash = family.services[service].algorithm != Algorithm::kLeastConnections;
    if (weights == configured || !is_hash) continue;
    choice = make_choice(family, service, configured, seed);
    if (!choice) return choice.error();
    choices.back().undrained = std::move(choice).value();
  }
  return choices;
}

std::vector<net::IpAddress> balancer_addresses(const Config& config,
                                               const BackendRegistry& registry) {
  std::vector<net::IpAddress> addresses = config.fullnat.addresses;
  const std::vector<net::IpAddress>& nat64 = config.fullnat.nat64_addresses;
  addresses.insert(addresses.end(), nat64.begin(), nat64.end());
  for (const FamilyRegistry& family : registry.families) {
    for (const RegisteredService& service : family.services) {
      if (service.use != Registration::kFree) addresses.push_back(service.address);
    }
  }
  return addresses;
}

}  // namespace roost::lb
