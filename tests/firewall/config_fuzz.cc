// Any bytes as a configuration file of the firewall: taken or refused, never a crash; a refused one
// names a line of the file and what to do, and the rules of an accepted one are masks.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "apps/firewall/config/config.h"
#include "roost/acl/rule_masks.h"
#include "roost/base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const firewall::ConfigOutcome outcome = firewall::parse_config(text);
  ROOST_ASSERT(outcome.config.has_value() == outcome.faults.empty());
  const auto line_count = static_cast<uint32_t>(1 + std::ranges::count(text, '\n'));
  for (const config::Fault& fault : outcome.faults) {
    ROOST_ASSERT(fault.line >= 1 && fault.line <= line_count);
    ROOST_ASSERT(fault.text.find(';') != std::string::npos);
    const auto is_control = [](char c) { return c >= 0 && c < ' '; };
    ROOST_ASSERT(std::ranges::none_of(fault.text, is_control));
  }
  if (!outcome.config) return 0;
  for (const acl::RuleConfig& rule : outcome.config->rules) {
    const auto masks = acl::masks_of(rule, 0);
    ROOST_ASSERT(masks && !masks->empty());
    ROOST_ASSERT(!acl::rule_text(rule).empty());
  }
  ROOST_ASSERT(firewall::refused_changes(*outcome.config, *outcome.config).empty());
  return 0;
}
