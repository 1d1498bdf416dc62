// Why a switch drops frames.
#pragma once

#include <array>

#include "roost/net/drop_cause.h"

namespace roost::bridge {

inline constexpr net::DropCause kBadSource = net::own_drop_cause(0);
inline constexpr net::DropCause kLinkLocal = net::own_drop_cause(1);
inline constexpr net::DropCause kBpdu = net::own_drop_cause(2);
inline constexpr net::DropCause kSamePort = net::own_drop_cause(3);
inline constexpr net::DropCause kStaticDrop = net::own_drop_cause(4);
inline constexpr net::DropCause kNotLearned = net::own_drop_cause(5);
inline constexpr net::DropCause kNoOtherPort = net::own_drop_cause(6);
inline constexpr net::DropCause kBroadcastStorm = net::own_drop_cause(7);
inline constexpr net::DropCause kMulticastStorm = net::own_drop_cause(8);
inline constexpr net::DropCause kUnknownUnicastStorm = net::own_drop_cause(9);

// All causes for which it, or the ports behind it, drop frames, in the order of reports.
inline constexpr std::array kSwitchDropCauses = {
    net::drop_cause_info(net::DropCause::kUndecided),
    net::drop_cause_info(net::DropCause::kTruncated),
    net::drop_cause_info(net::DropCause::kSplitHeaders),
    net::drop_cause_info(net::DropCause::kWrongVlan),
    net::DropCauseInfo{kBadSource, "bad_source", "has a source that is a group's or zero",
                       "its sender, or an attack"},
    net::DropCauseInfo{kLinkLocal, "link_local",
                       "is for 01:80:c2:00:00:01 to 0f, which no bridge forwards",
                       "pause frames and LLDP are normal"},
    net::DropCauseInfo{kBpdu, "bpdu", "is for 01:80:c2:00:00:00", "`bpdu = \"drop\"`"},
    net::DropCauseInfo{kSamePort, "same_port", "is for a station at the port that it came by",
                       "some is normal"},
    net::DropCauseInfo{kStaticDrop, "static_drop", "is from or for a station that drops",
                       "`[[station]]` with `drop`"},
    net::DropCauseInfo{kNotLearned, "not_learned",
                       "is of a station that its port had no room to learn",
                       "`learn_max` and `learn_full` of the port; an attack"},
    net::DropCauseInfo{kNoOtherPort, "no_other_port", "is of a VLAN that no other port has",
                       "`untagged` and `tagged`"},
    net::DropCauseInfo{kBroadcastStorm, "broadcast_storm",
                       "is broadcast beyond what its port may send in a second",
                       "`broadcast_max`; a loop"},
    net::DropCauseInfo{kMulticastStorm, "multicast_storm",
                       "is multicast beyond what its port may send in a second",
                       "`multicast_max`; a loop"},
    net::DropCauseInfo{kUnknownUnicastStorm, "unknown_unicast_storm",
                       "is for an unknown station beyond what its port may send in a second",
                       "`unknown_unicast_max`; an attack"},
    net::drop_cause_info(net::DropCause::kTooBig),
    net::drop_cause_info(net::DropCause::kNoHeadroom),
    net::drop_cause_info(net::DropCause::kTxRefused),
    net::drop_cause_info(net::DropCause::kNoBuffer),
    net::drop_cause_info(net::DropCause::kMalformed),
};

}  // namespace roost::bridge
