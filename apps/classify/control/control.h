// The control plane of a running classifier: its flows, shown and changed, and its configuration,
// taken anew.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/classify/config/config.h"
#include "apps/classify/control/report.h"
#include "apps/classify/datapath/state.h"
#include "roost/base/result.h"
#include "roost/control/control.h"

namespace roost::classifying {

[[nodiscard]] std::span<const control::Command> command_list();

class Control final : public control::Control {
 public:
  // `states`: of the workers, in their order. What the configuration points to must outlive this.
  Control(const classifying::Config& own_config, control::Control::Config config,
          std::vector<State*> states);

  // Of a run that goes on. Any thread but a worker's.
  [[nodiscard]] Result<Report> sample() {
    const std::scoped_lock lock(mutex_);
    return take_sample();
  }

 private:
  using Json = control::Json;
  using Place = openflow::FlowList::iterator;

  Result<Json> run_own(const control::ParsedRequest& request) override;
  Result<Json> take_file() override;
  [[nodiscard]] std::string taken_text(const Json& taken) const override;

  Result<Report> take_sample();
  [[nodiscard]] Result<Json> masks();

  // control_rules.cc
  [[nodiscard]] Result<Json> rules(const Json& parameters);
  [[nodiscard]] Result<Json> list_rules(const Json& parameters);
  [[nodiscard]] Result<Json> count_rules(const Json& parameters);
  [[nodiscard]] Result<Json> add_rule(const Json& parameters);
  [[nodiscard]] Result<Json> delete_rules(const Json& parameters);
  [[nodiscard]] Result<Json> replace_rules(const Json& parameters);
  // Every worker gets other tables, or none does.
  [[nodiscard]] Result<Json> replace_all(const std::vector<openflow::Flow>& flows);
  // Which flows a command means.
  [[nodiscard]] Result<std::function<bool(const openflow::Flow&)>> filter(const Json& parameters);
  // What these have counted, with what they had in tables of before.
  [[nodiscard]] Result<std::vector<classify::RuleTable::Counts>> counts_of(
      std::span<const Place> places);
  [[nodiscard]] std::optional<Error> erase(std::span<const Place> places);

  [[nodiscard]] openflow::FlowList& flows() { return states_.front()->shared().flows; }

  classifying::Config own_config_;
  std::vector<State*> states_;
};

}  // namespace roost::classifying
