// Addresses that no packet to be forwarded may carry.
#pragma once

#include "roost/net/flow_key.h"

namespace roost::net {

// True when the source or destination cannot be on a forwarded unicast packet, or both are the same
// address.
//   IPv4 (RFC 1812 section 5.3.7, RFC 6890): 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, 224.0.0.0/3.
//   IPv6 (RFC 4291, RFC 6890): ::, ::1, ::ffff:0:0/96, fe80::/10, ff00::/8.
[[nodiscard]] bool has_martian_address(const FlowKey4& key);
[[nodiscard]] bool has_martian_address(const FlowKey6& key);

}  // namespace roost::net
