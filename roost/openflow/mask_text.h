// A mask as people read it.
#pragma once

#include <string>

#include "roost/classify/packet_fields.h"

namespace roost::openflow {

// The fields that it looks at, with the bits where those are not all:
// "eth_type,ipv4_dst/0xffffff00".
[[nodiscard]] std::string format_mask(const classify::PacketFields& mask);
// Whether it looks at a field. An ICMP type and code stand where ports stand: it is one or the
// other.
[[nodiscard]] bool looks_at(const classify::PacketFields& mask, classify::Field field);

}  // namespace roost::openflow
