// Why the load balancer drops a packet. The names are part of the report, and README.md says what
// each means to an operator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "roost/net/packet_batch.h"

namespace roost::lb {

enum class DropCause : uint8_t {
  kUndecided,  // what a verdict holds before the datapath decided; never counted
  kTruncated,
  kSplitHeaders,
  kNotForUs,
  kWrongVlan,
  kNotIp,
  kBadNeighbourMessage,
  kBadHeader,
  kBadChecksum,
  kBadFragment,
  kFragmentOverlap,
  kFragmentTableFull,
  kIpv4SourceRoute,
  kIpv6RoutingHeader,
  kTooManyExtensionHeaders,
  kUnsupportedProtocol,
  kBadIcmp,
  kIcmpNoFlow,
  kMartian,
  kTtlExpired,
  kBadL4Checksum,
  kNoService,
  kNoFlow,
  kWrongSide,
  kNoBackend,
  kNoNeighbour,
  kNeighbourFailed,
  kNeighbourQueueFull,
  kReplyTupleTaken,
  kNoLocalPort,
  kTableFull,
  kTooBig,
  kNoHeadroom,
  kHandOverFull,  // between the worker that received it and its own
  kTxRefused,     // by the port, after the datapath
  kNoBuffer,      // by the port, of what the datapath made itself
  kMalformed,     // by the port, before the datapath
};
inline constexpr size_t kDropCauseCount = 37;

inline constexpr std::array<std::string_view, kDropCauseCount> kDropCauseNames = {
    "undecided",
    "truncated",
    "split_headers",
    "not_for_us",
    "wrong_vlan",
    "not_ip",
    "bad_neighbour_message",
    "bad_header",
    "bad_checksum",
    "bad_fragment",
    "fragment_overlap",
    "fragment_table_full",
    "ipv4_source_route",
    "ipv6_routing_header",
    "too_many_extension_headers",
    "unsupported_protocol",
    "bad_icmp",
    "icmp_no_flow",
    "martian",
    "ttl_expired",
    "bad_l4_checksum",
    "no_service",
    "no_flow",
    "wrong_side",
    "no_backend",
    "no_neighbour",
    "neighbour_failed",
    "neighbour_queue_full",
    "reply_tuple_taken",
    "no_local_port",
    "table_full",
    "too_big",
    "no_headroom",
    "hand_over_full",
    "tx_refused",
    "no_buffer",
    "malformed"};

static_assert(static_cast<size_t>(DropCause::kMalformed) + 1 == kDropCauseCount,
              "each cause has a name");

[[nodiscard]] constexpr std::string_view drop_cause_name(DropCause cause) {
  return kDropCauseNames[static_cast<size_t>(cause)];
}

[[nodiscard]] inline net::LaneVerdict drop(DropCause cause) {
  return net::LaneVerdict::drop(static_cast<uint8_t>(cause));
}

}  // namespace roost::lb
