// Flows as text: a subset of what `ovs-ofctl add-flows` takes and `ovs-ofctl dump-flows` prints
// (docs/decisions/0041-flow-text.md).
//
//   table=1,priority=100,tcp,nw_dst=192.0.2.0/24,tp_dst=80,actions=set_field:5->reg0,output:2
//
// A flow a line; what follows a '#' is a comment. Statistics that a dump has are passed over.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/openflow/flow.h"

namespace roost::openflow {

// The flows of a text, in order, without those that have a fault. Every fault of the text is noted:
// its line, the word, and what to do. Any bytes may be given.
// What `check` says of a flow is a fault, too, unless it is "".
[[nodiscard]] std::vector<Flow> parse_flows(
    std::string_view text, std::vector<config::Fault>& faults,
    const std::function<std::string(const Flow&)>& check = [](const Flow&) { return ""; });

// What `ovs-ofctl -O OpenFlow13 parse-flows` prints of it, behind "ADD ". Parses back to the same.
[[nodiscard]] std::string format_flow(const Flow& flow);
// The match alone: "priority=100,tcp,nw_dst=192.0.2.0/24,tp_dst=80"; "" of all packets at the
// default priority.
[[nodiscard]] std::string format_match(const Flow& flow);
// The actions alone: "set_field:0x5->reg0,output:2".
[[nodiscard]] std::string format_actions(const Flow& flow);

}  // namespace roost::openflow
