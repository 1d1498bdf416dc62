// The definition of FamilyPath::forward_error: ICMP errors about packets of connections.
#pragma once

#include <optional>

#include "apps/lb/datapath/family_path.h"
#include "apps/lb/datapath/steering.h"
#include "roost/net/icmp_error.h"
#include "roost/net/martian.h"

namespace roost::lb {

// Why a message is no error that can be followed; nothing if it is one.
[[nodiscard]] inline std::optional<DropCause> cause_of(net::IcmpVerdict verdict) {
  using enum net::IcmpVerdict;
  switch (verdict) {
    case kError:
      return {};
    case kNotIcmp:
    case kNotError:
      return DropCause::kUnsupportedProtocol;
    case kSplitHeaders:
      return DropCause::kSplitHeaders;
    case kTruncated:
    case kBadChecksum:
    case kBadEmbedded:
      return DropCause::kBadIcmp;
    case kLaterFragment:  // whose datagram may have passed, and be forgotten
    case kOtherProtocol:
      return DropCause::kIcmpNoFlow;
  }
  return DropCause::kBadIcmp;
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::forward_error(net::Packet& packet,
                                                            net::ParsedPacket& parsed) {
  net::IcmpError error;
  if (const auto cause = cause_of(parse_icmp_error(packet, parsed, error))) return drop(*cause);
  const Key outer = Key::from_packet(packet, parsed);
  if (has_martian_address(outer) || next_hops_.is_ours(outer.source)) {
    return drop(DropCause::kMartian);
  }
  if (parsed.ttl <= 1) return drop(DropCause::kTtlExpired);
  // It goes to who sent the packet it is about; what is for somebody else is made up.
  const Key about = net::embedded_key<Key>(packet, error);
  if (about.source != outer.destination) return drop(DropCause::kBadIcmp);

  if (const auto owner =
          other_owner_of(packet, about.reversed(), services_, connections_.ports(), owner_)) {
    return net::LaneVerdict::handoff(*owner);
  }
  const Match match = connections_.find(about.reversed());
  if (match.connection == nullptr) return drop(DropCause::kIcmpNoFlow);
  Backend& backend = services_.backend(match.connection->owner);
  const bool is_to_backend = match.sender == Sender::kClient;
  if (!is_to_backend && packet.in_port != backend.side) return drop(drop_cause::kWrongSide);
  const Passage passage{packet, parsed, about};
  const l3::NeighbourIndex neighbour =
      is_to_backend ? neighbour_of(backend)
                    : neighbour_of_client(*match.connection, match.client.address);
  l3::Resolved resolved;
  const size_t added_bytes = is_to_backend ? added_bytes_of(backend.mode) : 0;
  if (!resolve(passage, neighbour, added_bytes, resolved)) return drop(resolved.refusal);
  const bool is_fullnat = backend.mode == Mode::kFullnat;
  if (!is_to_backend) {
    net::rewrite_error_destination(packet, error, backend.virtual_endpoint);
    if (is_fullnat) net::rewrite_error_source(packet, error, match.client);
  } else if (!is_dsr(backend.mode)) {
    net::rewrite_error_source(packet, error, backend.endpoint);
    if (is_fullnat) {
      net::rewrite_error_destination(packet, error, connections_.bound_end(*match.connection));
    }
  }
  return is_to_backend ? transmit_to_backend(passage, about, backend, resolved)
                       : transmit(passage, backend, resolved);
}

}  // namespace roost::lb
