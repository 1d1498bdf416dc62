// Classifiers, rules and packets of few fields, as tests ask for them.
#pragma once

#include <cstdint>

#include "roost/classify/classifier.h"

namespace roost::classify {

[[nodiscard]] inline ClassifierConfig with_layers(bool has_cache, bool has_megaflows) {
  return {.cache_entries = has_cache ? 64u : 0u,
          .has_megaflows = has_megaflows,
          .megaflow_idle_ticks = 4,
          .action_without_rule = 999,
          .hash_seed = 1};
}

[[nodiscard]] inline Rule rule_of(Field field, FieldNumber mask, uint64_t value, uint16_t priority,
                                  uint32_t action) {
  Rule rule{.priority = priority, .action = action};
  set(rule.mask, field, mask);
  set(rule.value, field, value);
  return rule;
}
[[nodiscard]] inline Rule port_rule(uint64_t port, uint16_t priority, uint32_t action) {
  return rule_of(Field::kTpDst, all_ones(Field::kTpDst), port, priority, action);
}
[[nodiscard]] inline Rule source_rule(unsigned prefix_bits, uint64_t source, uint16_t priority,
                                      uint32_t action) {
  return rule_of(Field::kIpv4Src, prefix_mask(Field::kIpv4Src, prefix_bits), source, priority,
                 action);
}

[[nodiscard]] inline PacketFields packet_of(uint64_t source, uint64_t port) {
  PacketFields fields;
  set(fields, Field::kEthType, 0x0800);
  set(fields, Field::kIpv4Src, source);
  set(fields, Field::kTpDst, port);
  return fields;
}

inline uint32_t ask(Classifier& classifier, const PacketFields& packet) {
  Answer answer;
  const uint32_t bytes = 100;
  classifier.classify({&packet, 1}, {&bytes, 1}, {&answer, 1});
  return answer.action;
}

}  // namespace roost::classify
