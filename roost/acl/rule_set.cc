#include "roost/acl/rule_set.h"

#include <fmt/format.h>

#include <array>

#include "roost/acl/rule_masks.h"
#include "roost/net/packet_batch.h"

namespace roost::acl {

Result<std::unique_ptr<RuleSet>> RuleSet::create(std::vector<RuleConfig> rules,
                                                 std::optional<uint64_t> hash_seed) {
  const auto last = static_cast<uint32_t>(rules.size() - 1);
  auto classifier =
      classify::Classifier::create({.action_without_rule = last, .hash_seed = hash_seed});
  if (!classifier) return classifier.error();
  for (uint32_t place = 0; place < last; ++place) {
    const RuleConfig& rule = rules[place];
    const auto masks = masks_of(rule, place);
    if (!masks) return Error{fmt::format("rule {} has too many combinations", rule.name)};
    for (const classify::Rule& mask : *masks) {
      const Result<classify::RuleId> added = classifier.value().add(mask);
      if (!added) return Error{fmt::format("rule {}: {}", rule.name, added.error().message)};
    }
  }
  return std::unique_ptr<RuleSet>(new RuleSet(std::move(classifier).value(), std::move(rules)));
}

void RuleSet::find(std::span<const classify::PacketFields> packets, std::span<uint32_t> places) {
  const std::array<uint32_t, net::kBatchLanesMax> bytes{};
  std::array<classify::Answer, net::kBatchLanesMax> answers;
  classifier_.classify(packets, std::span(bytes).first(packets.size()),
                       std::span(answers).first(packets.size()));
  for (size_t i = 0; i < packets.size(); ++i) places[i] = answers[i].action;
}

}  // namespace roost::acl
