// The chain of IPv6 extension headers: which next-header values are one, and how long it is
// (RFC 8200 section 4, RFC 4302).
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/net/headers.h"

namespace roost::net {

[[nodiscard]] constexpr bool is_extension_header(uint8_t next_header) {
  return next_header == ipv6::kHopByHop || next_header == ipv6::kRouting ||
         next_header == ipv6::kFragmentHeader || next_header == ipv6::kAuthentication ||
         next_header == ipv6::kDestinationOptions;
}

// `length` is the header's second byte.
[[nodiscard]] constexpr size_t extension_header_bytes(uint8_t type, uint8_t length) {
  switch (type) {
    case ipv6::kFragmentHeader:
      return ipv6::kExtensionBytesMin;  // its second byte is reserved
    case ipv6::kAuthentication:
      return (size_t{length} + 2) * 4;
    default:
      return (size_t{length} + 1) * 8;
  }
}

}  // namespace roost::net
