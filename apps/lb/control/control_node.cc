// What a router is told of this node: docs/decisions/0036-two-nodes.md.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/lb/control/control.h"

namespace roost::lb {

// Virtual addresses of which a service gives new connections to somebody.
std::set<net::IpAddress> Control::usable_addresses() const {
  std::set<net::IpAddress> usable;
  for (const BackendRegistry::Place& place : registry_.services) {
    const RegisteredService& service = registry_.service(place);
    const std::vector<RegisteredBackend>& backends = registry_.families[place.family].backends;
    const bool is_usable = std::ranges::any_of(
        service.backends, [&](uint32_t index) { return backends[index].weight != 0; });
    if (is_usable) usable.insert(service.address);
  }
  return usable;
}

// Why an address is not announced; empty if it should be.
std::string Control::withdrawn_reason(const net::IpAddress& address) const {
  if (!announce_) return "the configuration has no [announce]";
  if (node_state_ == NodeState::kStopping) return "the balancer stops";
  if (node_state_ == NodeState::kDrained) return "the node is drained, as an operator said";
  if (store_.is_configured && !store_.is_heard) return "etcd has not been heard of yet";
  if (!usable_addresses().contains(address)) return "none of its services has a usable backend";
  return "";
}

void Control::announce_anew() {
  if (!announce_) return;
  std::set<net::IpAddress> wanted = usable_addresses();
  std::erase_if(wanted,
                [this](const net::IpAddress& one) { return !withdrawn_reason(one).empty(); });
  if (wanted == announced_ && announce_failure_.empty()) return;
  const std::optional<Error> error = announce_({wanted.begin(), wanted.end()});
  const std::string failure = error ? error->message : "";
  if (error && failure != announce_failure_) config_.tell(control::Severity::kError, failure);
  announce_failure_ = failure;
  for (const net::IpAddress& address : announced_) {
    if (wanted.contains(address)) continue;
    const bool is_meant = node_state_ != NodeState::kServing;
    config_.tell(
        is_meant ? control::Severity::kNotice : control::Severity::kWarning,
        fmt::format("{} is announced no more: {}", address.format(), withdrawn_reason(address)));
  }
  for (const net::IpAddress& address : wanted) {
    if (announced_.contains(address)) continue;
    config_.tell(control::Severity::kNotice, address.format() + " is announced");
  }
  announced_ = std::move(wanted);
}

std::optional<Error> Control::begin_announcing(Announce announce,
                                               const std::vector<net::IpAddress>& announced) {
  const std::scoped_lock lock(mutex_);
  if (!announced.empty()) store_.is_heard = true;
  announced_ = {announced.begin(), announced.end()};
  announce_ = std::move(announce);
  announce_anew();
  if (announce_failure_.empty()) return {};
  return Error{"[announce]: " + announce_failure_};
}

void Control::leave() {
  const std::scoped_lock lock(mutex_);
  node_state_ = NodeState::kStopping;
  announce_anew();
}

Result<Json> Control::node(const Json& parameters) {
  const std::string action = parameters.value("action", "");
  if (!action.empty()) {
    if (!announce_) {
      return Error{"no router is told of this node: the configuration has no [announce]"};
    }
    if (node_state_ == NodeState::kStopping) return Error{"the balancer stops"};
    node_state_ = action == "drain" ? NodeState::kDrained : NodeState::kServing;
    announce_anew();
    if (auto error = note_roster()) return *error;
    if (!announce_failure_.empty()) return Error{announce_failure_};
  }
  return node_json(node_status());
}

NodeStatus Control::node_status() const {
  NodeStatus status{.announces = static_cast<bool>(announce_),
                    .state = node_state_,
                    .failure = announce_failure_,
                    .store = store_,
                    .settings = settings_};
  std::set<net::IpAddress> addresses;
  for (const BackendRegistry::Place& place : registry_.services) {
    addresses.insert(registry_.service(place).address);
  }
  for (const net::IpAddress& address : addresses) {
    status.addresses.push_back({address, announced_.contains(address), withdrawn_reason(address)});
  }
  return status;
}

}  // namespace roost::lb
