#include "roost/control/rule_report.h"

#include <fmt/format.h>

#include "roost/control/view.h"

namespace roost::control {

namespace {

std::string what_text(std::span<const acl::RuleConfig> rules, size_t place) {
  return place + 1 < rules.size() ? rule_text(rules[place]) : "packets without a rule";
}

}  // namespace

Json rules_json(std::span<const acl::RuleConfig> rules,
                std::span<const acl::RuleSet::Counts> counts) {
  Json rows = Json::array();
  for (size_t place = 0; place < counts.size(); ++place) {
    rows.push_back({{"rule", rules[place].name},
                    {"action", action_name(rules[place].action)},
                    {"what", what_text(rules, place)},
                    {"packets", counts[place].packets},
                    {"bytes", counts[place].bytes}});
  }
  return rows;
}

void write_rules(std::span<const acl::RuleConfig> rules,
                 std::span<const acl::RuleSet::Counts> counts, TextOut out) {
  fmt::format_to(out, "\n{:>14} {:>16}  rule\n", "packets", "bytes");
  for (size_t place = 0; place < counts.size(); ++place) {
    if (counts[place].packets == 0) continue;
    fmt::format_to(out, "{:>14} {:>16}  {}: {} {}\n", counts[place].packets, counts[place].bytes,
                   rules[place].name, action_name(rules[place].action), what_text(rules, place));
  }
}

std::string record_text(const acl::DecisionRecord& record, std::span<const acl::RuleConfig> rules) {
  const acl::RuleConfig& rule = rules[record.place];
  return fmt::format("{} by rule {}: port {}, {} {} -> {}, {} bytes", action_name(rule.action),
                     rule.name, record.in_port, acl::protocol_text(record.protocol),
                     net::endpoint_text(record.source, record.source_port),
                     net::endpoint_text(record.destination, record.destination_port), record.bytes);
}

Json rules_view(const Json&) {
  return View().table("/rules", {"rule", "action", "what", "packets", "bytes"}).take();
}

}  // namespace roost::control
