// Why the load balancer drops a packet.
#pragma once

#include <array>
#include <string_view>

#include "roost/net/drop_cause.h"

namespace roost::lb {

using net::DropCause;

// Its own.
namespace drop_cause {
inline constexpr DropCause kNoService = net::own_drop_cause(0);
inline constexpr DropCause kWrongSide = net::own_drop_cause(1);
inline constexpr DropCause kNoBackend = net::own_drop_cause(2);
inline constexpr DropCause kNoProxyHeader = net::own_drop_cause(3);
inline constexpr DropCause kUntranslatable = net::own_drop_cause(4);
}  // namespace drop_cause

// All that it can have, in the order of its reports.
inline constexpr std::array kDropCauses = {
    net::drop_cause_info(DropCause::kUndecided),
    net::drop_cause_info(DropCause::kTruncated),
    net::drop_cause_info(DropCause::kSplitHeaders),
    net::drop_cause_info(DropCause::kNotForUs),
    net::drop_cause_info(DropCause::kWrongVlan),
    net::drop_cause_info(DropCause::kNotIp),
    net::drop_cause_info(DropCause::kBadNeighbourMessage),
    net::drop_cause_info(DropCause::kBadHeader),
    net::drop_cause_info(DropCause::kBadChecksum),
    net::drop_cause_info(DropCause::kBadFragment),
    net::drop_cause_info(DropCause::kFragmentOverlap),
    net::drop_cause_info(DropCause::kFragmentTableFull),
    net::drop_cause_info(DropCause::kIpv4SourceRoute),
    net::drop_cause_info(DropCause::kIpv6RoutingHeader),
    net::drop_cause_info(DropCause::kTooManyExtensionHeaders),
    net::drop_cause_info(DropCause::kUnsupportedProtocol),
    net::drop_cause_info(DropCause::kBadIcmp),
    net::drop_cause_info(DropCause::kIcmpNoFlow),
    net::drop_cause_info(DropCause::kMartian),
    net::drop_cause_info(DropCause::kTtlExpired),
    net::drop_cause_info(DropCause::kBadL4Checksum),
    net::DropCauseInfo{drop_cause::kNoService, "no_service",
                       "is for nobody: no service has this address, port and protocol",
                       "`[[service]]`"},
    net::drop_cause_info(DropCause::kNoFlow),
    net::DropCauseInfo{
        drop_cause::kWrongSide, "wrong_side",
        "is in a backend's name, and did not come by the port that leads to the backend",
        "an attack, or routes that differ by direction"},
    net::DropCauseInfo{
        drop_cause::kNoBackend, "no_backend",
        "is for a service whose backends all have weight 0, or comes from its only backend",
        "`weight`, `fallback`"},
    net::DropCauseInfo{
        drop_cause::kNoProxyHeader, "no_proxy_header",
        "begins a client's stream where no PROXY header can be put in front of it: in a SYN, in "
        "fragments, or from before the stream's start",
        "`proxy_protocol`; TCP fast open without a cookie, or an attack"},
    net::DropCauseInfo{
        drop_cause::kUntranslatable, "untranslatable",
        "is between a client over IPv6 and a backend over IPv4, and what it says has no "
        "counterpart in the other version: an authentication header, options behind a fragment "
        "header, fragments of UDP without checksum, ICMP of one version only",
        "`nat64_addresses`; rare senders, or an attack"},
    net::drop_cause_info(DropCause::kNoNeighbour),
    net::drop_cause_info(DropCause::kNeighbourFailed),
    net::drop_cause_info(DropCause::kNeighbourQueueFull),
    net::drop_cause_info(DropCause::kReplyTupleTaken),
    net::drop_cause_info(DropCause::kNoLocalPort),
    net::drop_cause_info(DropCause::kTableFull),
    net::drop_cause_info(DropCause::kTooBig),
    net::drop_cause_info(DropCause::kNoHeadroom),
    net::drop_cause_info(DropCause::kHandoffFull),
    net::drop_cause_info(DropCause::kTxRefused),
    net::drop_cause_info(DropCause::kNoBuffer),
    net::drop_cause_info(DropCause::kMalformed),
};

[[nodiscard]] constexpr std::string_view drop_cause_name(DropCause cause) {
  return net::drop_cause_name(kDropCauses, cause);
}

}  // namespace roost::lb
