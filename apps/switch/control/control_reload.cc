// Taking a new configuration while frames flow (docs/decisions/0023-switch.md).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/switch/control/control.h"
#include "roost/bridge/fdb_walk.h"

namespace roost::switching {

namespace {

using bridge::FdbKey;
using bridge::FdbValue;
using control::Json;

// Has a worker go by other rules.
class RulesRequest final : public node::Request {
 public:
  RulesRequest(State& state, std::shared_ptr<const bridge::SwitchRules> rules)
      : state_(state), rules_(std::move(rules)) {}
  bool step() override {
    state_.switching().exchange(rules_);
    return true;
  }

 private:
  State& state_;
  std::shared_ptr<const bridge::SwitchRules> rules_;  // afterwards those of before
};

std::vector<FdbKey> keys_of(const std::vector<StationConfig>& stations) {
  std::vector<FdbKey> keys;
  for (const StationConfig& station : stations) keys.push_back(station.key);
  return keys;
}

// Stations of the first list whose address the second one has not.
std::vector<StationConfig> without(const std::vector<StationConfig>& stations,
                                   const std::vector<StationConfig>& others) {
  std::vector<FdbKey> keys = keys_of(others);
  std::ranges::sort(keys);
  std::vector<StationConfig> rest;
  std::ranges::copy_if(stations, std::back_inserter(rest), [&](const StationConfig& station) {
    return !std::ranges::binary_search(keys, station.key);
  });
  return rest;
}

}  // namespace

std::string Control::taken_text(const Json& taken) const {
  return fmt::format("{} VLANs, {} stations; {} entries flushed", taken["vlans"].get<size_t>(),
                     taken["stations"].get<size_t>(), taken["flushed"].get<uint64_t>());
}

// Until the workers are asked to change, whatever fails changes nothing.
Result<Json> Control::take_file() {
  ConfigOutcome outcome = read_config(config_.config_path);
  if (outcome.config) outcome.faults = refused_changes(switch_config_, *outcome.config);
  if (!outcome.config || !outcome.faults.empty()) {
    return config::error_of(outcome.faults, config_.config_path);
  }
  switching::Config& file = *outcome.config;
  if (auto error = check_static_room(file)) return *error;

  std::shared_ptr<const bridge::SwitchRules> rules = file.rules();
  control::Requests<RulesRequest> requests;
  for (State* state : states_) requests.add(*state, rules);
  const control::Asked asked = control::ask_until_done(*config_.mailboxes, requests.posted());
  if (auto error = asked.error(config_.function)) return *error;
  rules_ = std::move(rules);
  take_stations(switch_config_.stations, file.stations);
  switch_config_.ports = std::move(file.ports);
  switch_config_.stations = std::move(file.stations);
  switch_config_.mirror = std::move(file.mirror);
  switch_config_.drops_bpdus = file.drops_bpdus;
  database().write().set_learn_max(switch_config_.learn_max());
  const uint64_t flushed = flush_what_is_not_allowed();
  return Json{{"vlans", vlans()["vlans"].size()},
              {"stations", switch_config_.stations.size()},
              {"flushed", flushed}};
}

// Those that were added by hand stay, and may need the room that new ones would have.
std::optional<Error> Control::check_static_room(const switching::Config& file) {
  const std::vector<FdbKey> kept = keys_of(file.stations);
  const std::vector<FdbKey> removed = keys_of(without(switch_config_.stations, file.stations));
  const uint64_t count = database().write().static_count() + kept.size() -
                         bridge::count_static(database(), kept) -
                         bridge::count_static(database(), removed);
  if (count <= switch_config_.static_max) return {};
  return Error{
      fmt::format("{}: with what was added by hand there would be {} static entries, and "
                  "there is room for {}; delete some, or restart the switch with a larger "
                  "[switch] static_max",
                  config_.config_path, count, switch_config_.static_max)};
}

void Control::take_stations(const std::vector<StationConfig>& before,
                            const std::vector<StationConfig>& after) {
  const std::vector<StationConfig> removed = without(before, after);
  write_in_pieces(database(), std::span(removed),
                  [](bridge::Fdb::Writer& writer, const StationConfig& station) {
                    writer.erase_if(station.key, [](FdbValue value) { return value.is_static(); });
                  });
  write_in_pieces(database(), std::span(after),
                  [](bridge::Fdb::Writer& writer, const StationConfig& station) {
                    static_cast<void>(writer.add_static(station.key, station.port));
                  });
}

uint64_t Control::flush_what_is_not_allowed() {
  uint64_t flushed = erase_from_fdb(database(), [this](const FdbKey& key, FdbValue value) {
    const net::PortSet ports = rules_->vlans.ports_of(key.vlan());
    return value.port() == FdbValue::kNoPort ? ports.empty() : !ports.has(value.port());
  });
  net::PortSet crowded{};
  {
    const bridge::Fdb::Writer writer = database().write();
    for (unsigned port = 0; port < port_count(); ++port) {
      if (writer.has_too_many(static_cast<uint16_t>(port))) crowded |= net::PortSet::of(port);
    }
  }
  if (crowded.empty()) return flushed;
  flushed += erase_from_fdb(
      database(),
      [&](const FdbKey&, FdbValue value) {
        return !value.is_static() && crowded.has(value.port());
      },
      [](const bridge::Fdb::Writer& writer, FdbValue value) {
        return writer.has_too_many(value.port());
      });
  return flushed;
}

}  // namespace roost::switching
