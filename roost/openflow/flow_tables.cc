#include "roost/openflow/flow_tables.h"

#include <utility>

namespace roost::openflow {

using classify::Classifier;

uint32_t FlowTables::take_place(const std::vector<Action>& actions) {
  if (free_.empty()) {
    actions_.push_back(actions);
    return static_cast<uint32_t>(actions_.size() - 1);
  }
  const uint32_t place = free_.back();
  free_.pop_back();
  actions_[place] = actions;
  return place;
}

Result<FlowId> FlowTables::add(const Flow& flow) {
  std::unique_ptr<Classifier>& table = tables_[flow.table];
  if (table == nullptr) {
    classify::ClassifierConfig config = config_;
    config.action_without_rule = kNoFlow;
    auto made = Classifier::create(config);
    if (!made) return made.error();
    table = std::make_unique<Classifier>(std::move(made).value());
  }
  classify::Rule rule = flow.match;
  rule.action = take_place(flow.actions);
  const Result<classify::RuleId> id = table->add(rule);
  if (id) return FlowId{flow.table, id.value()};
  free_.push_back(rule.action);
  return id.error();
}

bool FlowTables::erase(FlowId id) {
  Classifier* const table = tables_[id.table].get();
  const classify::Rule* const rule = table == nullptr ? nullptr : table->find(id.rule);
  if (rule == nullptr) return false;
  const uint32_t place = rule->action;
  table->erase(id.rule);
  actions_[place].clear();
  free_.push_back(place);
  return true;
}

std::optional<classify::RuleTable::Counts> FlowTables::counts(FlowId id) const {
  const Classifier* const table = tables_[id.table].get();
  if (table == nullptr || table->find(id.rule) == nullptr) return {};
  return table->counts(id.rule);
}

void FlowTables::advance(Tick now) {
  for (const auto& table : tables_)
    if (table != nullptr) table->advance(now);
}

void FlowTables::maintain(size_t budget) {
  for (const auto& table : tables_)
    if (table != nullptr) table->maintain(budget);
}

uint64_t FlowTables::flow_count() const {
  uint64_t count = 0;
  for (const auto& table : tables_) count += table == nullptr ? 0 : table->rule_count();
  return count;
}

uint64_t FlowTables::memory_bytes() const {
  uint64_t bytes = 0;
  for (const auto& table : tables_) bytes += table == nullptr ? 0 : table->memory_bytes();
  return bytes;
}

std::optional<std::string> FlowTables::audit() {
  for (const auto& table : tables_) {
    if (table == nullptr) continue;
    if (auto wrong = table->audit()) return wrong;
  }
  return {};
}

}  // namespace roost::openflow
