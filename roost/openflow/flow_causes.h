// Why flow tables drop packets.
#pragma once

#include <array>

#include "roost/net/drop_cause.h"

namespace roost::openflow {

inline constexpr net::DropCause kNoRule = net::own_drop_cause(0);
inline constexpr net::DropCause kRuleDrop = net::own_drop_cause(1);
inline constexpr net::DropCause kToInPort = net::own_drop_cause(2);
inline constexpr net::DropCause kTooManyLookups = net::own_drop_cause(3);

// All causes for which they, or the ports behind them, drop packets, in the order of reports.
inline constexpr std::array kFlowDropCauses = {
    net::drop_cause_info(net::DropCause::kUndecided),
    net::drop_cause_info(net::DropCause::kTruncated),
    net::drop_cause_info(net::DropCause::kSplitHeaders),
    net::drop_cause_info(net::DropCause::kBadHeader),
    net::drop_cause_info(net::DropCause::kBadChecksum),
    net::drop_cause_info(net::DropCause::kBadFragment),
    net::drop_cause_info(net::DropCause::kFragmentOverlap),
    net::drop_cause_info(net::DropCause::kFragmentTableFull),
    net::drop_cause_info(net::DropCause::kIpv4SourceRoute),
    net::drop_cause_info(net::DropCause::kIpv6RoutingHeader),
    net::drop_cause_info(net::DropCause::kTooManyExtensionHeaders),
    net::DropCauseInfo{kNoRule, "no_rule", "matches no flow", "the flows; one of priority 0"},
    net::DropCauseInfo{kRuleDrop, "rule_drop", "matches flows that send it nowhere",
                       "`roost ctl rules`"},
    net::DropCauseInfo{kToInPort, "to_in_port",
                       "would leave by the port that it came by, which `output` does not do",
                       "the action `in_port` does"},
    net::DropCauseInfo{kTooManyLookups, "too_many_lookups",
                       "was looked up 4,096 times, or 64 `resubmit`s deep",
                       "flows that resubmit to each other"},
    net::drop_cause_info(net::DropCause::kTtlExpired),
    net::drop_cause_info(net::DropCause::kTableFull),
    net::drop_cause_info(net::DropCause::kNoHeadroom),
    net::drop_cause_info(net::DropCause::kHandoffFull),
    net::drop_cause_info(net::DropCause::kTxRefused),
    net::drop_cause_info(net::DropCause::kNoBuffer),
    net::drop_cause_info(net::DropCause::kMalformed),
};

}  // namespace roost::openflow
