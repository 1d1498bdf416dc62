#include "roost/net/link_message.h"

#include "roost/net/headers.h"

namespace roost::net {

namespace {

constexpr uint8_t kLinkHopLimit = 255;  // RFC 4861 section 3.1
constexpr uint8_t kRouterSolicitation = 133;
constexpr uint8_t kRedirect = 137;

}  // namespace

bool is_link_message(const Packet& packet, const ParsedPacket& parsed) {
  if (!parsed.is_ipv6 || parsed.protocol != kProtocolIcmp6 || parsed.fragment.is_one() ||
      parsed.l4_bytes == 0 || parsed.l4_offset >= packet.contiguous_bytes) {
    return false;
  }
  const uint8_t type = packet.data[parsed.l4_offset];
  if (type >= kRouterSolicitation && type <= kRedirect) return parsed.ttl == kLinkHopLimit;
  const bool is_listener_message =
      (type >= mld::kQuery && type <= mld::kDone1) || type == mld::kReport2;
  return is_listener_message && parsed.ttl == 1;
}

}  // namespace roost::net
