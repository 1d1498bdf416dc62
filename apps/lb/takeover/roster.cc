#include "apps/lb/takeover/roster.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace roost::lb {

namespace {

using control::Json;

constexpr int kFormat = 2;

Json service_json(const RegisteredService& service) {
  if (service.use == Registration::kFree) return nullptr;
  return {{"name", service.name},
          {"address", service.address.format()},
          {"ports", {service.ports.first, service.ports.last}},
          {"protocol", static_cast<unsigned>(service.protocol)},
          {"mode", mode_name(service.mode)},
          {"proxy_protocol", service.sends_proxy_header},
          {"timeouts", service.timeouts}};
}

Json backend_json(const RegisteredBackend& backend, const BackendState& state) {
  if (backend.use == Registration::kFree) return nullptr;
  return {{"name", backend.name},
          {"address", backend.address.format()},
          {"port", backend.port},
          {"service", backend.service},
          {"drained", state.is_drained},
          {"down", state.is_down},
          {"failing", state.is_failing},
          {"failure", state.failure},
          {"removed", backend.use == Registration::kRemoved}};
}

// Throws Json::exception, as reading JSON does, or std::string.
net::IpAddress address_of(const Json& json) {
  const Result<net::IpAddress> address =
      net::IpAddress::parse(json.at("address").get<std::string>());
  if (!address) throw std::string("address");
  return address.value();
}

net::IpAddress service_address_of(const Json& json, size_t family) {
  const net::IpAddress address = address_of(json);
  if (address.is_ipv6() != (family == 1)) throw std::string("address");
  return address;
}

uint16_t port_of(const Json& json) {
  const auto port = json.get<uint64_t>();
  if (port == 0 || port > net::kL4PortMax) throw std::string("port");
  return static_cast<uint16_t>(port);
}

ServicePorts ports_of(const Json& json) {
  const ServicePorts ports{port_of(json.at(0)), port_of(json.at(1))};
  if (ports.last < ports.first) throw std::string("ports");
  return ports;
}

RegisteredService service_of(const Json& json, size_t family) {
  if (json.is_null()) return {};
  RegisteredService service{.use = Registration::kRemoved,
                            .name = json.at("name"),
                            .address = service_address_of(json, family),
                            .ports = ports_of(json.at("ports")),
                            .protocol = static_cast<net::IpProtocol>(json.at("protocol")),
                            .sends_proxy_header = json.at("proxy_protocol"),
                            .timeouts = json.at("timeouts")};
  const auto mode = std::ranges::find(kModeNames, json.at("mode").get<std::string>());
  if (mode == kModeNames.end()) throw std::string("mode");
  service.mode = static_cast<Mode>(mode - kModeNames.begin());
  return service;
}

void read_backend(const Json& json, size_t family, Roster& roster) {
  FamilyRegistry& registry = roster.registry.families[family];
  RegisteredBackend& backend = registry.backends.emplace_back();
  BackendState& state = roster.states[family].emplace_back();
  if (json.is_null()) return;
  backend = {.use = json.at("removed") ? Registration::kRemoved : Registration::kConfigured,
             .name = json.at("name"),
             .address = address_of(json),
             .port = port_of(json.at("port")),
             .service = json.at("service")};
  const bool has_service = backend.service < registry.services.size() &&
                           registry.services[backend.service].use != Registration::kFree;
  if (!has_service) throw std::string("service");
  const bool is_ipv6 = backend.address.is_ipv6();
  const bool may_be_ipv4 = registry.services[backend.service].mode == Mode::kFullnat;
  if (is_ipv6 != (family == 1) && (is_ipv6 || !may_be_ipv4)) throw std::string("address");
  state = {.is_drained = json.at("drained"),
           .is_down = json.at("down"),
           .is_failing = json.at("failing"),
           .failure = json.at("failure")};
}

Json settings_json(const StoreSettings& settings) {
  Json rows = Json::array();
  for (const auto& [names, setting] : settings) {
    Json row = {
        {"service", names.first}, {"backend", names.second}, {"drained", setting.is_drained}};
    if (setting.weight) row["weight"] = *setting.weight;
    rows.push_back(std::move(row));
  }
  return rows;
}

StoreSettings settings_of(const Json& json) {
  StoreSettings settings;
  for (const Json& row : json) {
    StoreSetting setting{.is_drained = row.at("drained")};
    if (row.contains("weight")) setting.weight = row.at("weight").get<uint32_t>();
    if (setting.weight > BackendConfig::kWeightMax) throw std::string("weight");
    settings.emplace(std::pair<std::string, std::string>(row.at("service"), row.at("backend")),
                     setting);
  }
  return settings;
}

Roster roster_of(const Json& json) {
  Roster roster{.settings = settings_of(json.at("settings")),
                .is_node_drained = json.at("node_drained")};
  if (json.at("format").get<int>() != kFormat) throw std::string("format");
  for (size_t family = 0; family < roster.states.size(); ++family) {
    const Json& one = json.at("families").at(family);
    for (const Json& service : one.at("services")) {
      roster.registry.families[family].services.push_back(service_of(service, family));
    }
    for (const Json& backend : one.at("backends")) read_backend(backend, family, roster);
    if (one.at("backends").size() > BackendRegistry::kBackendsMax) throw std::string("backends");
  }
  return roster;
}

}  // namespace

Json roster_json(const Roster& roster) {
  Json families = Json::array();
  for (size_t family = 0; family < roster.states.size(); ++family) {
    const FamilyRegistry& registry = roster.registry.families[family];
    Json services = Json::array();
    for (const RegisteredService& service : registry.services) {
      services.push_back(service_json(service));
    }
    Json backends = Json::array();
    for (size_t i = 0; i < registry.backends.size(); ++i) {
      backends.push_back(backend_json(registry.backends[i], roster.states[family][i]));
    }
    families.push_back({{"services", std::move(services)}, {"backends", std::move(backends)}});
  }
  return {{"format", kFormat},
          {"families", std::move(families)},
          {"settings", settings_json(roster.settings)},
          {"node_drained", roster.is_node_drained}};
}

Result<Roster> read_roster(std::string_view text) {
  try {
    return roster_of(Json::parse(text));
  } catch (const Json::exception& error) {
    return Error{fmt::format("it is no roster of services ({})", error.what())};
  } catch (const std::string& member) {
    return Error{fmt::format("its `{}` cannot be right", member)};
  }
}

Result<Roster> next_roster(const Config& config, const Roster& before) {
  BackendUse use;
  for (size_t family = 0; family < use.size(); ++family) {
    use[family].assign(before.registry.families[family].backends.size(), true);
  }
  Config in_force = config;
  in_force.services = with_settings(config.services, before.settings);
  Result<BackendRegistry> registry = next_registry(in_force, before.registry, use);
  if (!registry) return registry.error();
  Roster roster{std::move(registry).value(), {}, before.settings, before.is_node_drained};
  roster.states = states_after(config.services, roster.registry, before.states, before.settings);
  put_in_force(roster.registry, roster.states);
  return roster;
}

}  // namespace roost::lb
