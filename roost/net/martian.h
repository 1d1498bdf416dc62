// Addresses that no packet to be forwarded may carry.
#pragma once

#include <algorithm>

#include "roost/net/address.h"
#include "roost/net/flow_key.h"

namespace roost::net {

// Of one address.
[[nodiscard]] constexpr bool is_martian(const Ipv4Address& address) {
  const uint8_t first = address.bytes[0];
  return first == 0 || first == 127 || (first == 169 && address.bytes[1] == 254) || first >= 224;
}

[[nodiscard]] constexpr bool is_martian(const Ipv6Address& address) {
  const auto& bytes = address.bytes;
  if (bytes[0] == 0xff) return true;
  if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) return true;
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  if (!std::all_of(bytes.begin(), bytes.begin() + 10, is_zero)) return false;
  const bool is_unspecified_or_loopback =
      std::all_of(bytes.begin() + 10, bytes.begin() + 15, is_zero) && bytes[15] <= 1;
  return is_ipv4_mapped(address) || is_unspecified_or_loopback;
}

[[nodiscard]] constexpr bool is_martian(const IpAddress& address) {
  return address.is_ipv6() ? is_martian(address.ipv6()) : is_martian(address.ipv4());
}

// True when the source or destination cannot be on a forwarded unicast packet, or both are the same
// address.
//   IPv4 (RFC 1812 section 5.3.7, RFC 6890): 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, 224.0.0.0/3.
//   IPv6 (RFC 4291, RFC 6890): ::, ::1, ::ffff:0:0/96, fe80::/10, ff00::/8.
template <class Address>
[[nodiscard]] constexpr bool has_martian_address(const Address& source,
                                                 const Address& destination) {
  return is_martian(source) || is_martian(destination) || source == destination;
}
template <class Address>
[[nodiscard]] constexpr bool has_martian_address(const FlowKey<Address>& key) {
  return has_martian_address(key.source, key.destination);
}

}  // namespace roost::net
