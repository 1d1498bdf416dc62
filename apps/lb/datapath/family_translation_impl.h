// Definitions of FamilyPath: connections of IPv6 clients whose backends speak IPv4
// (docs/decisions/0038-ipv6-in-front.md). Among connections, their backends and local ends have
// IPv4-mapped addresses.
//
//   from the backend   resolve, translate, rewrite as IPv6
//   to the backend     resolve, rewrite as IPv6, translate
//
// What a packet will be longer or shorter by then is resolved with it. Of IPv4 only there is
// nothing here.
#pragma once

#include "apps/lb/datapath/family_path.h"
#include "roost/l3/icmp_error_admission.h"
#include "roost/net/icmp_translation.h"
#include "roost/net/ip_translation.h"

namespace roost::lb {

template <class Address, class Tables>
bool FamilyPath<Address, Tables>::resolve_to_backend(const Passage& passage, Backend& backend,
                                                     size_t added_bytes, l3::Resolved& resolved) {
  auto growth = static_cast<ptrdiff_t>(added_bytes);
  if constexpr (Key::kIsIpv6) {
    if (backend.is_ipv4) {
      const auto of_translation = net::translation_growth(passage.packet, passage.parsed);
      if (!of_translation) {
        resolved.refusal = drop_cause::kUntranslatable;
        return false;
      }
      // What is added is there before the packet becomes shorter.
      if (!has_headroom(passage, growth, resolved)) return false;
      growth += *of_translation;
    }
  }
  return resolve(passage, neighbour_of(backend), growth, resolved);
}

template <class Address, class Tables>
bool FamilyPath<Address, Tables>::resolve_to_client(const Passage& passage, Connection& connection,
                                                    const Address& client, l3::Resolved& resolved) {
  const l3::NeighbourIndex neighbour = neighbour_of_client(connection, client);
  if constexpr (Key::kIsIpv6) {
    if (!passage.parsed.is_ipv6) {
      const auto growth = net::translation_growth(passage.packet, passage.parsed);
      if (!growth) {
        resolved.refusal = drop_cause::kUntranslatable;
        return false;
      }
      if (!resolve(passage, neighbour, *growth, resolved)) return false;
      // It may be cut, or it would not have been resolved; but without the header that says so.
      const bool is_to_be_cut = passage.parsed.ip_bytes + *growth > resolved.out->mtu;
      const size_t more = is_to_be_cut ? net::kFragmentHeaderGrowth +
                                             resolved.out->vlan.count * net::vlan::kTagBytes
                                       : 0;
      const ptrdiff_t needed = *growth + static_cast<ptrdiff_t>(more);
      if (!has_headroom(passage, needed, resolved)) return false;
      net::translate_to_ipv6(passage.packet, passage.parsed, is_to_be_cut);
      return true;
    }
  }
  return resolve(passage, neighbour, 0, resolved);
}

template <class Address, class Tables>
void FamilyPath<Address, Tables>::translate_for(const Backend& backend, const Passage& passage) {
  if constexpr (Key::kIsIpv6) {
    if (backend.is_ipv4) {
      net::translate_to_ipv4(passage.packet, passage.parsed, identification_++);
    }
  }
}

template <class Address, class Tables>
std::optional<DropCause> FamilyPath<Address, Tables>::admit_error(const net::Packet& packet,
                                                                  const net::ParsedPacket& parsed,
                                                                  net::IcmpError& error,
                                                                  Key& about) const {
  if constexpr (Key::kIsIpv6) {
    if (!parsed.is_ipv6) {
      net::FlowKey4 about_ipv4;
      const auto cause = l3::admit_icmp_error(packet, parsed, next_hops_, error, about_ipv4);
      if (!cause) about = net::ipv4_mapped(about_ipv4);
      return cause;
    }
  }
  return l3::admit_icmp_error(packet, parsed, next_hops_, error, about);
}

template <class Address, class Tables>
bool FamilyPath<Address, Tables>::resolve_error(const Passage& passage, net::IcmpError& error,
                                                const Match& match, l3::Resolved& resolved) {
  Backend& backend = services_.backend(match.connection->owner);
  const bool is_to_backend = match.sender == Sender::kClient;
  const l3::NeighbourIndex neighbour =
      is_to_backend ? neighbour_of(backend)
                    : neighbour_of_client(*match.connection, match.client.address);
  const auto refuse = [&](DropCause cause) {
    resolved.refusal = cause;
    return false;
  };
  auto growth = static_cast<ptrdiff_t>(is_to_backend ? added_bytes_of(backend.mode) : 0);
  if constexpr (Key::kIsIpv6) {
    if (backend.is_ipv4) {
      const auto of_translation = net::error_translation_growth(passage.packet, error);
      if (!of_translation) return refuse(drop_cause::kUntranslatable);
      growth = *of_translation;
    }
  }
  if (!resolve(passage, neighbour, growth, resolved)) return false;
  if constexpr (Key::kIsIpv6) {
    if (!passage.parsed.is_ipv6) {
      // Nobody cuts an error. What it is too long by would stay in the frame.
      if (passage.parsed.ip_bytes + growth > resolved.out->mtu) return refuse(DropCause::kTooBig);
      if (!has_headroom(passage, growth, resolved)) return false;
      net::translate_error_to_ipv6(passage.packet, passage.parsed, error);
    }
  }
  return true;
}

template <class Address, class Tables>
void FamilyPath<Address, Tables>::translate_error_for(const Backend& backend,
                                                      const Passage& passage,
                                                      net::IcmpError& error) {
  if constexpr (Key::kIsIpv6) {
    if (backend.is_ipv4) {
      net::translate_error_to_ipv4(passage.packet, passage.parsed, error, identification_++);
    }
  }
}

}  // namespace roost::lb
