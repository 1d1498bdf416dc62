// Why a packet is dropped: the causes that any function may have, and how a function declares its
// own.
//
// A verdict carries the number of a cause. Up to 63 they are these; a function's own are constants
// of the same type from kOwnDropCauses on:
//
//   inline constexpr net::DropCause kNoService = net::own_drop_cause(0);
//
// A cause is declared once, with its name, which reports, metrics and people use, and with what the
// manual says of it. A function lists those that it can have, in the order of its reports.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>

namespace roost::net {

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
  kNoFlow,
  kNoRoute,
  kNotServed,
  kNoNeighbour,
  kNeighbourFailed,
  kNeighbourQueueFull,
  kReplyTupleTaken,
  kNoLocalPort,
  kTableFull,
  kTooBig,
  kNoHeadroom,
  kHandoffFull,  // between the worker that received it and its own
  kTxRefused,    // by the port, after the datapath
  kNoBuffer,     // by the port, of what was originated or copied here
  kMalformed,    // by the port, before the datapath
};
inline constexpr uint8_t kOwnDropCauses = 64;

[[nodiscard]] constexpr DropCause own_drop_cause(uint8_t number) {
  return static_cast<DropCause>(kOwnDropCauses + number);
}

struct DropCauseInfo {
  DropCause cause{};
  std::string_view name;
  std::string_view packet;   // what is true of a packet that is dropped for it: "is too long"
  std::string_view look_at;  // what an operator looks at then
};

inline constexpr std::array kDropCauses = {
    DropCauseInfo{DropCause::kUndecided, "undecided", "was not decided: never", "a bug"},
    DropCauseInfo{DropCause::kTruncated, "truncated", "ends before its headers or its IP packet do",
                  "captures made with a short snapshot length"},
    DropCauseInfo{DropCause::kSplitHeaders, "split_headers",
                  "has its headers in more than one buffer", "the device"},
    DropCauseInfo{DropCause::kNotForUs, "not_for_us", "is for another MAC, or for a group",
                  "`mac`, `promiscuous`; some broadcast is normal"},
    DropCauseInfo{DropCause::kWrongVlan, "wrong_vlan", "has other tags than the port", "`vlan`"},
    DropCauseInfo{DropCause::kNotIp, "not_ip", "is of some other EtherType, or has a third tag",
                  "some is normal"},
    DropCauseInfo{
        DropCause::kBadNeighbourMessage, "bad_neighbour_message",
        "is ARP, neighbour discovery or an MLD query, and cannot be: lengths, checksum, hop limit, "
        "addresses, options",
        "an attack"},
    DropCauseInfo{DropCause::kBadHeader, "bad_header",
                  "has a version, length or option that cannot be", "damage, or an attack"},
    DropCauseInfo{DropCause::kBadChecksum, "bad_checksum", "has a wrong IPv4 header checksum",
                  "damage"},
    DropCauseInfo{DropCause::kBadFragment, "bad_fragment",
                  "is a fragment that no honest sender makes: without its ports, reaching into "
                  "them, or beyond "
                  "65,535 bytes",
                  "an attack"},
    DropCauseInfo{DropCause::kFragmentOverlap, "fragment_overlap",
                  "is a fragment that repeats, overlaps or contradicts an earlier one",
                  "an attack; a few are a network that repeats packets"},
    DropCauseInfo{DropCause::kFragmentTableFull, "fragment_table_full",
                  "is a fragment that cannot wait: it stands in several buffers, or its datagram "
                  "has too many "
                  "parts that do",
                  "an attack"},
    DropCauseInfo{DropCause::kIpv4SourceRoute, "ipv4_source_route",
                  "says itself where it wants to go", "an attack"},
    DropCauseInfo{DropCause::kIpv6RoutingHeader, "ipv6_routing_header",
                  "says itself where it wants to go", "an attack"},
    DropCauseInfo{DropCause::kTooManyExtensionHeaders, "too_many_extension_headers",
                  "has more than 8", "an attack"},
    DropCauseInfo{
        DropCause::kUnsupportedProtocol, "unsupported_protocol",
        "is of a protocol that the function does not forward, or an ICMP message that is no error",
        "pings of other addresses than ours end here, and of ours in fragments"},
    DropCauseInfo{DropCause::kBadIcmp, "bad_icmp",
                  "is an ICMP error with a wrong checksum, about nothing recognisable, or about a "
                  "packet that "
                  "its receiver did not send",
                  "an attack"},
    DropCauseInfo{
        DropCause::kIcmpNoFlow, "icmp_no_flow",
        "is an ICMP error about a packet of no live connection, or about a fragment without ports",
        "late ones are normal; so are those about fragments, whose first one is told of as well"},
    DropCauseInfo{DropCause::kMartian, "martian",
                  "has an address that no forwarded packet may have, or comes from one of our own",
                  "its sender"},
    DropCauseInfo{DropCause::kTtlExpired, "ttl_expired", "has no hop left",
                  "a loop, or traceroute"},
    DropCauseInfo{DropCause::kBadL4Checksum, "bad_l4_checksum",
                  "has a wrong TCP or UDP checksum; only if `verify_l4_checksum`",
                  "damage, or offloads on a virtual device"},
    DropCauseInfo{DropCause::kNoFlow, "no_flow", "is of no connection, and cannot begin one",
                  "timeouts, if there are many"},
    DropCauseInfo{DropCause::kNoRoute, "no_route",
                  "is for an address that no route and no port's network contains", "`[[route]]`"},
    DropCauseInfo{DropCause::kNotServed, "not_served",
                  "is for an own address, and neither ping nor a message between neighbours",
                  "its sender"},
    DropCauseInfo{
        DropCause::kNoNeighbour, "no_neighbour",
        "is for an address to which no route leads, or for which there is no room among 4,096 "
        "neighbours",
        "`[[route]]`"},
    DropCauseInfo{DropCause::kNeighbourFailed, "neighbour_failed",
                  "is for a neighbour that does not answer", "is it up?"},
    DropCauseInfo{DropCause::kNeighbourQueueFull, "neighbour_queue_full",
                  "is for a neighbour that has not answered yet, and 16 packets wait for it "
                  "already, or 256 for "
                  "all; or it cannot wait, being in several buffers or too long for the way out",
                  "some is normal after a start"},
    DropCauseInfo{DropCause::kReplyTupleTaken, "reply_tuple_taken",
                  "would begin a connection whose replies look like those of another live one",
                  "two ways to one server from one client port"},
    DropCauseInfo{
        DropCause::kNoLocalPort, "no_local_port",
        "would begin a connection when the ports that it could be bound to are taken by assured "
        "ones",
        "more addresses or ports to bind to"},
    DropCauseInfo{DropCause::kTableFull, "table_full",
                  "would begin a connection, and no place was found: nearly all connections are "
                  "assured and "
                  "in use",
                  "`[table] connections`"},
    DropCauseInfo{DropCause::kTooBig, "too_big",
                  "is longer than the MTU of the port it would leave by, and may not be cut",
                  "`mtu`; some are how hosts find out"},
    DropCauseInfo{DropCause::kNoHeadroom, "no_headroom",
                  "has no room in its buffer for the tags of the port it would leave by",
                  "the device"},
    DropCauseInfo{DropCause::kHandoffFull, "handoff_full",
                  "waited for its worker, and too many others did",
                  "a worker that has more to do than its core can: more workers"},
    DropCauseInfo{DropCause::kTxRefused, "tx_refused", "was not taken by the device",
                  "the device's queue: too much traffic"},
    DropCauseInfo{DropCause::kNoBuffer, "no_buffer",
                  "was originated or copied here, and there was no buffer for it",
                  "the device keeps all of them: too much traffic"},
    DropCauseInfo{DropCause::kMalformed, "malformed",
                  "came from the device with lengths that contradict each other", "the device"},
};

// What the manual says of one of these causes.
[[nodiscard]] constexpr const DropCauseInfo& drop_cause_info(DropCause cause) {
  return kDropCauses[static_cast<size_t>(cause)];
}

static_assert(
    [] {
      for (size_t i = 0; i < kDropCauses.size(); ++i) {
        if (static_cast<size_t>(kDropCauses[i].cause) != i) return false;
      }
      return kDropCauses.size() <= kOwnDropCauses;
    }(),
    "each cause is in its place");

// The name of a cause among those that a function lists; empty if it is none of them.
[[nodiscard]] constexpr std::string_view drop_cause_name(std::span<const DropCauseInfo> listed,
                                                         DropCause cause) {
  for (const DropCauseInfo& info : listed) {
    if (info.cause == cause) return info.name;
  }
  return {};
}

// How many packets were dropped, by cause.
class DropCounts {
 public:
  [[nodiscard]] uint64_t& operator[](DropCause cause) {
    return counts_[static_cast<size_t>(cause)];
  }
  [[nodiscard]] uint64_t operator[](DropCause cause) const {
    return counts_[static_cast<size_t>(cause)];
  }
  [[nodiscard]] uint64_t sum() const {
    return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
  }
  DropCounts& operator+=(const DropCounts& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    return *this;
  }

 private:
  std::array<uint64_t, 256> counts_{};
};

}  // namespace roost::net
