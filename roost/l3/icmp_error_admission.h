// Whether an ICMP error about a packet of a flow may be followed to that flow's sender.
#pragma once

#include <optional>

#include "roost/l3/next_hops.h"
#include "roost/net/drop_cause.h"
#include "roost/net/flow_key.h"
#include "roost/net/icmp_error.h"
#include "roost/net/martian.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::l3 {

// Why a message is no error that can be followed; nothing if it is one.
[[nodiscard]] inline std::optional<net::DropCause> cause_of(net::IcmpVerdict verdict) {
  using enum net::IcmpVerdict;
  switch (verdict) {
    case kError:
      return {};
    case kNotIcmp:
    case kNotError:
      return net::DropCause::kUnsupportedProtocol;
    case kSplitHeaders:
      return net::DropCause::kSplitHeaders;
    case kTruncated:
    case kBadChecksum:
    case kBadEmbedded:
      return net::DropCause::kBadIcmp;
    case kLaterFragment:  // its datagram may have passed, and be removed
    case kOtherProtocol:
      return net::DropCause::kIcmpNoFlow;
  }
  return net::DropCause::kBadIcmp;
}

// Of a message that parsed as kUnsupportedProtocol: why it is dropped; nothing when it is an error
// that goes on, and then `error` holds, and `about`, which is what the embedded packet's sender
// sent.
template <class Address>
[[nodiscard]] std::optional<net::DropCause> admit_icmp_error(const net::Packet& packet,
                                                             const net::ParsedPacket& parsed,
                                                             const NextHops& next_hops,
                                                             net::IcmpError& error,
                                                             net::FlowKey<Address>& about) {
  using Key = net::FlowKey<Address>;
  if (const auto cause = cause_of(parse_icmp_error(packet, parsed, error))) return cause;
  const Key outer = Key::from_packet(packet, parsed);
  if (has_martian_address(outer) || next_hops.is_ours(outer.source)) {
    return net::DropCause::kMartian;
  }
  if (parsed.ttl <= 1) return net::DropCause::kTtlExpired;
  // It must go to the source of the packet that it is about; else it is forged.
  about = net::embedded_key<Key>(packet, error);
  if (about.source != outer.destination) return net::DropCause::kBadIcmp;
  return {};
}

}  // namespace roost::l3
