// What functions with an access list report of its rules, and how their log comes to be written.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "roost/acl/decision_log.h"
#include "roost/acl/rule_config.h"
#include "roost/acl/rule_set.h"
#include "roost/control/commands.h"
#include "roost/control/json.h"
#include "roost/control/report_text.h"
#include "roost/node/mailbox.h"

namespace roost::control {

// [{"rule", "action", "what", "packets", "bytes"}], by place, the last of packets without a rule.
[[nodiscard]] Json rules_json(std::span<const acl::RuleConfig> rules,
                              std::span<const acl::RuleSet::Counts> counts);
// Those that have decided something.
void write_rules(std::span<const acl::RuleConfig> rules,
                 std::span<const acl::RuleSet::Counts> counts, TextOut out);
// A decision, as a line of the log has it.
[[nodiscard]] std::string record_text(const acl::DecisionRecord& record,
                                      std::span<const acl::RuleConfig> rules);

[[nodiscard]] Json rules_view(const Json& result);
inline constexpr Command kRulesCommand = {
    .name = "rules",
    .help = "the rules in force, with the packets that each has decided",
    .view = rules_view,
    .is_in_telemetry = true};

// Takes what a worker's log has.
class LogRequest final : public node::Request {
 public:
  explicit LogRequest(acl::DecisionLog& log) : log_(log) {}
  bool step() override {
    const std::span<const acl::DecisionRecord> kept = log_.records();
    std::ranges::copy(kept, records_.begin() + static_cast<ptrdiff_t>(count_));
    count_ += kept.size();
    log_.clear();
    return true;
  }
  [[nodiscard]] std::span<const acl::DecisionRecord> records() const {
    return std::span(records_).first(count_);
  }

 private:
  acl::DecisionLog& log_;
  std::array<acl::DecisionRecord, acl::DecisionLog::kRecordsMax> records_;
  size_t count_ = 0;
};

}  // namespace roost::control
