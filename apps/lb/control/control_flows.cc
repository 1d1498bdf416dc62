// The connections, one by one: what the balancer calls their ends and owners.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "apps/lb/control/control.h"
#include "roost/control/connection_commands.h"

namespace roost::lb {

Result<Json> Control::flows(const Json& parameters) {
  const std::string service = parameters.value("service", "");
  const std::string backend = parameters.value("backend", "");
  std::array<std::vector<bool>, 2> backends;
  bool is_any = false;
  for (size_t family = 0; family < backends.size(); ++family) {
    const FamilyRegistry& registry = registry_.families[family];
    for (const RegisteredBackend& one : registry.backends) {
      backends[family].push_back(
          one.use != Registration::kFree &&
          (service.empty() || registry.services[one.service].name == service) &&
          (backend.empty() || one.name == backend));
      is_any = is_any || backends[family].back();
    }
  }
  if (!is_any) return Error{"there is no such service with such a backend"};
  const bool is_filtered = parameters.contains("service") || parameters.contains("backend");
  using Walk = control::TrackerWalk<decltype(states_.front()->tracker())>;
  return control::run_connections(
      parameters, std::move(backends), is_filtered,
      {.worker_count = states_.size(),
       .walk =
           [this](size_t worker, const control::ConnectionWalk::Config& config) {
             return std::make_unique<Walk>(states_[worker]->tracker(), config);
           },
       .ask = [this](std::span<node::Request* const> requests) { return ask(requests); },
       .describe = [this](const control::ConnectionRow& row, Json& json) { describe(row, json); },
       .describe_owner =
           [this](size_t family, uint32_t index, Json& json) {
             const FamilyRegistry& registry = registry_.families[family];
             const RegisteredBackend& owner = registry.backends[index];
             json["service"] = registry.services[owner.service].name;
             json["backend"] = owner.name;
           }});
}

void Control::describe(const control::ConnectionRow& row, Json& json) const {
  const FamilyRegistry& registry = registry_.families[row.family()];
  const RegisteredBackend& backend = registry.backends[row.owner];
  const RegisteredService& service = registry.services[backend.service];
  json["service"] = service.name;
  json["protocol"] = service.protocol == net::IpProtocol::kTcp ? "tcp" : "udp";
  json["client"] = net::endpoint_text(row.client, row.client_port);
  json["virtual"] = net::endpoint_text(row.destination, row.destination_port);
  json["backend"] = backend.name;
  const uint16_t port =
      ServicePorts::moved(row.destination_port, {.from = service.ports.first, .to = backend.port});
  json["endpoint"] = net::endpoint_text(backend.address, port);
}

}  // namespace roost::lb
