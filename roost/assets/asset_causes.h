// Why frames are not looked at: they do not parse, or did not come to the worker that should.
#pragma once

#include <array>

#include "roost/net/drop_cause.h"

namespace roost::assets {

// All causes, in the order of reports.
inline constexpr std::array kAssetDropCauses = {
    net::drop_cause_info(net::DropCause::kUndecided),
    net::drop_cause_info(net::DropCause::kTruncated),
    net::drop_cause_info(net::DropCause::kSplitHeaders),
    net::drop_cause_info(net::DropCause::kNotIp),
    net::drop_cause_info(net::DropCause::kBadNeighbourMessage),
    net::drop_cause_info(net::DropCause::kBadHeader),
    net::drop_cause_info(net::DropCause::kBadChecksum),
    net::drop_cause_info(net::DropCause::kBadFragment),
    net::drop_cause_info(net::DropCause::kIpv4SourceRoute),
    net::drop_cause_info(net::DropCause::kIpv6RoutingHeader),
    net::drop_cause_info(net::DropCause::kTooManyExtensionHeaders),
    net::drop_cause_info(net::DropCause::kHandoffFull),
    net::drop_cause_info(net::DropCause::kMalformed)};

}  // namespace roost::assets
