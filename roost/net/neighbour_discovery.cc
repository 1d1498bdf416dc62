#include "roost/net/neighbour_discovery.h"

#include <algorithm>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/headers.h"

namespace roost::net {
namespace {

constexpr uint8_t kHopLimit = 255;  // a router would have made it less: the sender is on the link

// Whether all options are well-formed (none of length 0, none beyond the end); keeps the first
// link-layer address of the wanted type, if it is one of a station.
bool read_options(std::span<const uint8_t> options, uint8_t wanted,
                  std::optional<MacAddress>& link_address) {
  while (!options.empty()) {
    if (options.size() < 2 || options[1] == 0) return false;
    const size_t option_bytes = size_t{8} * options[1];
    if (option_bytes > options.size()) return false;
    if (options[0] == wanted && !link_address) {
      MacAddress mac;
      std::memcpy(&mac, &options[2], sizeof mac);
      if (!mac.is_station()) return false;
      link_address = mac;
    }
    options = options.subspan(option_bytes);
  }
  return true;
}

// RFC 4861 section 7.1.1.
bool is_valid_solicitation(const NeighbourMessage& message) {
  if (message.source != Ipv6Address{}) return true;
  return message.destination == solicited_node_group(message.target) && !message.link_address;
}

// RFC 4861 section 7.1.2.
bool is_valid_advertisement(const NeighbourMessage& message) {
  return !message.destination.is_multicast() || !message.is_solicited;
}

uint64_t icmp_sum(const uint8_t* ip, std::span<const uint8_t> icmp) {
  return pseudo_header_sum({ip + ipv6::kSource, sizeof(Ipv6Address)},
                           {ip + ipv6::kDestination, sizeof(Ipv6Address)}, kProtocolIcmp6,
                           static_cast<uint32_t>(icmp.size())) +
         sum_words(icmp);
}

}  // namespace

std::optional<NeighbourMessage> parse_neighbour_message(const Packet& packet,
                                                        const ParsedPacket& parsed) {
  if (!parsed.is_ipv6 || parsed.protocol != kProtocolIcmp6 || parsed.ttl != kHopLimit ||
      parsed.l4_bytes < icmpv6::kNeighbourBytes ||
      parsed.l4_offset + parsed.l4_bytes > packet.contiguous_bytes) {
    return {};
  }
  const uint8_t* ip = packet.data + parsed.ip_offset;
  const std::span<const uint8_t> icmp(packet.data + parsed.l4_offset, parsed.l4_bytes);
  const uint8_t type = icmp[icmpv6::kType];
  if ((type != icmpv6::kSolicitation && type != icmpv6::kAdvertisement) ||
      icmp[icmpv6::kCode] != 0 || checksum_of(icmp_sum(ip, icmp)) != 0) {
    return {};
  }
  NeighbourMessage message{.is_solicitation = type == icmpv6::kSolicitation};
  if (!message.is_solicitation) {
    const uint8_t flags = icmp[icmpv6::kFlags];
    message.is_router = (flags & icmpv6::kRouterFlag) != 0;
    message.is_solicited = (flags & icmpv6::kSolicitedFlag) != 0;
    message.is_override = (flags & icmpv6::kOverrideFlag) != 0;
  }
  std::memcpy(&message.source, ip + ipv6::kSource, sizeof message.source);
  std::memcpy(&message.destination, ip + ipv6::kDestination, sizeof message.destination);
  std::memcpy(&message.target, &icmp[icmpv6::kTarget], sizeof message.target);
  const uint8_t option =
      message.is_solicitation ? icmpv6::kSourceLinkAddressOption : icmpv6::kTargetLinkAddressOption;
  if (message.source.is_multicast() || message.target.is_multicast() ||
      !read_options(icmp.subspan(icmpv6::kNeighbourBytes), option, message.link_address)) {
    return {};
  }
  const bool is_valid =
      message.is_solicitation ? is_valid_solicitation(message) : is_valid_advertisement(message);
  return is_valid ? std::optional(message) : std::nullopt;
}

size_t write_neighbour_message(std::span<uint8_t> to, const NeighbourMessage& message) {
  const size_t icmp_bytes = icmpv6::kNeighbourBytes + (message.link_address ? 8 : 0);
  ROOST_ASSERT(to.size() >= ipv6::kHeaderBytes + icmp_bytes);
  std::ranges::fill(to.first(ipv6::kHeaderBytes + icmp_bytes), uint8_t{0});
  uint8_t* ip = to.data();
  ip[0] = 0x60;
  store_be16(ip + ipv6::kPayloadLength, static_cast<uint16_t>(icmp_bytes));
  ip[ipv6::kNextHeader] = static_cast<uint8_t>(kProtocolIcmp6);
  ip[ipv6::kHopLimit] = kHopLimit;
  std::memcpy(ip + ipv6::kSource, &message.source, sizeof message.source);
  std::memcpy(ip + ipv6::kDestination, &message.destination, sizeof message.destination);

  uint8_t* icmp = ip + ipv6::kHeaderBytes;
  icmp[icmpv6::kType] = message.is_solicitation ? icmpv6::kSolicitation : icmpv6::kAdvertisement;
  if (!message.is_solicitation) {
    icmp[icmpv6::kFlags] =
        static_cast<uint8_t>((message.is_router ? icmpv6::kRouterFlag : 0) |
                             (message.is_solicited ? icmpv6::kSolicitedFlag : 0) |
                             (message.is_override ? icmpv6::kOverrideFlag : 0));
  }
  std::memcpy(icmp + icmpv6::kTarget, &message.target, sizeof message.target);
  if (message.link_address) {
    uint8_t* option = icmp + icmpv6::kNeighbourBytes;
    option[0] = message.is_solicitation ? icmpv6::kSourceLinkAddressOption
                                        : icmpv6::kTargetLinkAddressOption;
    option[1] = 1;
    std::memcpy(option + 2, &*message.link_address, sizeof *message.link_address);
  }
  store_be16(icmp + icmpv6::kChecksum, checksum_of(icmp_sum(ip, {icmp, icmp_bytes})));
  return ipv6::kHeaderBytes + icmp_bytes;
}

Ipv6Address solicited_node_group(const Ipv6Address& address) {
  Ipv6Address group = {{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff}};
  std::copy(address.bytes.begin() + 13, address.bytes.end(), group.bytes.begin() + 13);
  return group;
}

Ipv6Address link_local_address(const MacAddress& mac) {
  const auto& [a, b, c, d, e, f] = mac.bytes;
  return {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, static_cast<uint8_t>(a ^ 2), b, c, 0xff, 0xfe, d, e, f}};
}

MacAddress group_mac(const Ipv6Address& group) {
  return {{0x33, 0x33, group.bytes[12], group.bytes[13], group.bytes[14], group.bytes[15]}};
}

}  // namespace roost::net
