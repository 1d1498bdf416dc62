// Rules as masks and values of packet fields: what the classifier looks up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "roost/acl/rule_config.h"
#include "roost/classify/packet_fields.h"
#include "roost/classify/rule.h"
#include "roost/net/flow_key.h"

namespace roost::acl {

// As many masks and values a rule may be.
inline constexpr size_t kMasksOfRuleMax = 65'536;

// Which packets a rule is about: those, and only those, that match one of these. Nothing: they
// would be more than kMasksOfRuleMax. Each has this action and priority 0.
[[nodiscard]] std::optional<std::vector<classify::Rule>> masks_of(const RuleConfig& rule,
                                                                  uint32_t action);

// What rules look at of a packet, or of a connection by its first packet. `out_port`: nothing if it
// leaves by none.
template <class Address>
[[nodiscard]] classify::PacketFields fields_of(const net::FlowKey<Address>& key, uint16_t in_port,
                                               std::optional<uint16_t> out_port);

}  // namespace roost::acl
