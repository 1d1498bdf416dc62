// Rules that functions are measured with; synthetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "roost/acl/rule_config.h"
#include "roost/net/flow_key.h"
#include "roost/traffic/draw.h"

namespace roost::lab {

// [[rule]]s that deny, between them, nearly all flows of lab/lb/flows.h: each is about a part of
// the clients' addresses, and in turns about any packet of theirs, TCP, TCP to port 80, and TCP to
// the ports below 1,024, which is ten masks.
[[nodiscard]] std::string denying_rules(size_t count);

// Rules as an access list has them: a prefix of each address, in ten pairs of lengths; TCP, UDP or
// any protocol; any destination port, one, or those from 1,024 on. The last one is about every
// packet.
[[nodiscard]] std::vector<acl::RuleConfig> five_tuple_rules(size_t count, uint64_t seed);
// The key of a packet that the rule is about, drawn from all there are; rules before it may be too.
[[nodiscard]] net::FlowKey4 draw_key(const acl::RuleConfig& rule, traffic::Draw& draw);

}  // namespace roost::lab
