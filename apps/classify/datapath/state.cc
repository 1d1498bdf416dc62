#include "apps/classify/datapath/state.h"

#include <optional>
#include <vector>

namespace roost::classifying {

std::shared_ptr<Shared> list_flows(const Config& config, size_t worker_count) {
  auto shared = std::make_shared<Shared>();
  for (const openflow::Flow& flow : config.flows) {
    shared->flows.insert_or_assign(
        key_of(flow),
        openflow::ListedFlow{.flow = flow, .ids = std::vector<openflow::FlowId>(worker_count)});
  }
  return shared;
}

Result<std::unique_ptr<openflow::FlowTables>> make_tables(const classify::ClassifierConfig& config,
                                                          const openflow::FlowList& flows,
                                                          std::vector<openflow::FlowId>& ids) {
  auto tables = std::make_unique<openflow::FlowTables>(config);
  for (const auto& [key, listed] : flows) {
    const Result<openflow::FlowId> id = tables->add(listed.flow);
    if (!id) return id.error();
    ids.push_back(id.value());
  }
  return tables;
}

Result<State> State::create(const Config& config, size_t worker, size_t worker_count) {
  std::shared_ptr<Shared> shared = config.shared;
  if (shared == nullptr) shared = list_flows(config, worker_count);
  std::vector<openflow::FlowId> ids;
  auto tables = make_tables(config.classifier(), shared->flows, ids);
  if (!tables) return tables.error();
  // Workers are made at the same time; each writes its own places.
  auto id = ids.begin();
  for (auto& [key, listed] : shared->flows) listed.ids[worker] = *id++;
  std::optional<openflow::FlowTracker> tracker;
  if (config.connections != 0) {
    auto made = openflow::FlowTracker::create({.connections = config.connections,
                                               .tick_seconds = config.tick_seconds(),
                                               .hash_seed = config.hash_seed,
                                               .timeouts = config.timeouts});
    if (!made) return made.error();
    tracker.emplace(std::move(made).value());
  }
  return State(std::move(shared), worker,
               openflow::Pipeline(std::move(tables).value(), std::move(tracker)));
}

}  // namespace roost::classifying
