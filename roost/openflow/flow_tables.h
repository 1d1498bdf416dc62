// The flow tables of a worker: a classifier for each table that has flows, and the actions that its
// answers name (docs/decisions/0042-flow-tables.md).
//
// Threads: one at a time. The same changes in the same order give the same names of flows, so that
// the tables of several workers are asked by one name.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "roost/classify/classifier.h"
#include "roost/openflow/flow.h"

namespace roost::openflow {

// Names a flow for ever.
struct FlowId {
  uint8_t table = 0;
  classify::RuleId rule{};

  bool operator==(const FlowId&) const = default;
};

class FlowTables {
 public:
  // `config`: of each table's classifier; what it says of packets without a rule is not used.
  explicit FlowTables(const classify::ClassifierConfig& config) : config_(config) {}

  // Beside those that are there, whatever their match. Errors, and nothing has changed: too many
  // rules or masks, memory unavailable.
  [[nodiscard]] Result<FlowId> add(const Flow& flow);
  // False if there is no such flow any more.
  bool erase(FlowId id);

  // What the flow has answered; nothing if there is no such flow any more.
  [[nodiscard]] std::optional<classify::RuleTable::Counts> counts(FlowId id) const;

  // nullptr: the table has never had a flow, and no packet matches.
  [[nodiscard]] classify::Classifier* table(size_t number) { return tables_[number].get(); }
  [[nodiscard]] const classify::Classifier* table(size_t number) const {
    return tables_[number].get();
  }
  // The actions of an answer; nothing: no flow matched.
  [[nodiscard]] std::optional<std::span<const Action>> actions_of(
      const classify::Answer& answer) const {
    if (answer.action == kNoFlow) return {};
    return actions_[answer.action].list;
  }

  void advance(Tick now);
  void maintain(size_t budget);

  [[nodiscard]] uint64_t flow_count() const;
  [[nodiscard]] uint64_t memory_bytes() const;  // of the tables; not of actions
  [[nodiscard]] std::optional<std::string> audit();

 private:
  static constexpr uint32_t kNoFlow = 0;

  // A list of actions, and how many flows have it: many do the same, and what all packets do then
  // stays in a cache.
  struct SharedActions {
    std::span<const Action> list{};  // of a key of places_
    uint32_t flows = 0;
  };

  [[nodiscard]] uint32_t take_place(const std::vector<Action>& actions);
  void leave_place(uint32_t place);

  classify::ClassifierConfig config_;
  std::array<std::unique_ptr<classify::Classifier>, kTablesMax> tables_{};
  std::vector<SharedActions> actions_{1};             // the first: of no flow
  std::map<std::vector<Action>, uint32_t> places_{};  // in actions_
  std::vector<uint32_t> free_{};
};

}  // namespace roost::openflow
