// What the classifier knows while it runs: its flows, which the control thread lists, and each
// worker's tables of them and connections.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "apps/classify/config/config.h"
#include "roost/base/result.h"
#include "roost/openflow/flow_list.h"
#include "roost/openflow/pipeline.h"

namespace roost::classifying {

// Of all workers; the control thread's while it runs.
struct Shared {
  openflow::FlowList flows{};
};

// Those of a configuration, with places for the workers' names of each. Of flows with the same
// key, the last one stays.
[[nodiscard]] std::shared_ptr<Shared> list_flows(const Config& config, size_t worker_count);

// One worker's.
class State {
 public:
  // A configuration without a list, as for a check of it, gets one. Errors: memory is unavailable,
  // more masks than a table may have.
  static Result<State> create(const Config& config, size_t worker = 0, size_t worker_count = 1);

  [[nodiscard]] Shared& shared() const { return *shared_; }
  [[nodiscard]] size_t worker() const { return worker_; }
  [[nodiscard]] openflow::Pipeline& pipeline() { return pipeline_; }
  [[nodiscard]] const openflow::Pipeline& pipeline() const { return pipeline_; }

 private:
  State(std::shared_ptr<Shared> shared, size_t worker, openflow::Pipeline pipeline)
      : shared_(std::move(shared)), worker_(worker), pipeline_(std::move(pipeline)) {}

  std::shared_ptr<Shared> shared_;
  size_t worker_;
  openflow::Pipeline pipeline_;
};

// Tables with all listed flows, in the order in which they are listed; `ids` gets their names. In
// a table, flows of equal priority whose matches overlap are tried in that order, in every worker.
[[nodiscard]] Result<std::unique_ptr<openflow::FlowTables>> make_tables(
    const classify::ClassifierConfig& config, const openflow::FlowList& flows,
    std::vector<openflow::FlowId>& ids);

}  // namespace roost::classifying
