#include "apps/lb/control/node_status.h"

#include <array>
#include <utility>

namespace roost::lb {

std::string_view node_state_name(NodeState state) {
  constexpr std::array<std::string_view, 3> kNames = {"serving", "drained", "stopping"};
  return kNames[static_cast<size_t>(state)];
}

std::string_view StoreStatus::state_name() const {
  if (!is_configured) return "none";
  if (!is_heard) return "awaited";
  if (!away.empty()) return "away";
  return faults.empty() ? "current" : "refused";
}

Json node_json(const NodeStatus& status) {
  Json addresses = Json::array();
  for (const NodeStatus::Address& one : status.addresses) {
    addresses.push_back({{"address", one.address.format()},
                         {"state", one.is_announced ? "announced" : "withdrawn"},
                         {"reason", one.reason}});
  }
  Json settings = Json::array();
  for (const auto& [names, setting] : status.settings) {
    settings.push_back({{"service", names.first},
                        {"backend", names.second},
                        {"weight", setting.weight ? Json(*setting.weight) : Json("of the file")},
                        {"drain", setting.is_drained}});
  }
  return {{"node", node_state_name(status.state)},
          {"announces", status.announces},
          {"addresses", std::move(addresses)},
          {"failure", status.failure},
          {"etcd",
           {{"state", status.store.state_name()},
            {"revision", status.store.revision ? Json(*status.store.revision) : Json()},
            {"away", status.store.away},
            {"faults", status.store.faults}}},
          {"settings", std::move(settings)}};
}

}  // namespace roost::lb
