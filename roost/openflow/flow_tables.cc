#include "roost/openflow/flow_tables.h"

#include <utility>

namespace roost::openflow {

using classify::Classifier;

uint32_t FlowTables::take_place(const std::vector<Action>& actions) {
  const auto [at, is_new] = places_.try_emplace(actions);
  if (is_new) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(actions_.size()));
      actions_.emplace_back();
    }
    at->second = free_.back();
    free_.pop_back();
    actions_[at->second].list = at->first;
  }
  ++actions_[at->second].flows;
  return at->second;
}

void FlowTables::leave_place(uint32_t place) {
  SharedActions& actions = actions_[place];
  if (--actions.flows != 0) return;
  places_.erase(places_.find({actions.list.begin(), actions.list.end()}));
  actions = {};
  free_.push_back(place);
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
  leave_place(rule.action);
  return id.error();
}

bool FlowTables::erase(FlowId id) {
  Classifier* const table = tables_[id.table].get();
  const classify::Rule* const rule = table == nullptr ? nullptr : table->find(id.rule);
  if (rule == nullptr) return false;
  const uint32_t place = rule->action;
  table->erase(id.rule);
  leave_place(place);
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
