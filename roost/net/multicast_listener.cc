#include "roost/net/multicast_listener.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/headers.h"

namespace roost::net {
namespace {

constexpr uint8_t kHopLimitOfListeners = 1;  // no router forwards it
constexpr size_t kHopByHopBytes = 8;
constexpr Ipv6Address kAllRouters = {{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};

// Whether the hop-by-hop header has the router alert option of RFC 2711, with the value for MLD.
bool has_router_alert(std::span<const uint8_t> header) {
  std::span<const uint8_t> options = header.subspan(2);
  while (!options.empty()) {
    if (options[0] == mld::kPad1) {
      options = options.subspan(1);
      continue;
    }
    if (options.size() < 2 || options.size() < size_t{2} + options[1]) return false;
    if (options[0] == mld::kRouterAlert) {
      return options[1] == 2 && load_be16(&options[2]) == mld::kRouterAlertMld;
    }
    options = options.subspan(size_t{2} + options[1]);
  }
  return false;
}

// RFC 3810 section 6.2, and the packet's own sums and lengths.
bool is_valid_query(const Packet& packet, const ParsedPacket& parsed) {
  if (!parsed.is_ipv6 || parsed.protocol != kProtocolIcmp6 || parsed.fragment.is_one() ||
      parsed.ttl != kHopLimitOfListeners || parsed.l4_bytes < mld::kMessageBytes ||
      parsed.l4_offset + parsed.l4_bytes > packet.contiguous_bytes) {
    return false;
  }
  const uint8_t* ip = packet.data + parsed.ip_offset;
  const uint8_t* extension = ip + ipv6::kHeaderBytes;
  const std::span<const uint8_t> icmp(packet.data + parsed.l4_offset, parsed.l4_bytes);
  Ipv6Address source;
  std::memcpy(&source, ip + ipv6::kSource, sizeof source);
  const uint64_t sum = pseudo_header_sum({ip + ipv6::kSource, sizeof(Ipv6Address)},
                                         {ip + ipv6::kDestination, sizeof(Ipv6Address)},
                                         kProtocolIcmp6, parsed.l4_bytes) +
                       sum_words(icmp);
  return icmp[icmpv6::kType] == mld::kQuery && source.is_link_local() &&
         ip[ipv6::kNextHeader] == ipv6::kHopByHop &&
         has_router_alert({extension, (size_t{extension[ipv6::kExtensionLength]} + 1) * 8}) &&
         checksum_of(sum) == 0;
}

// RFC 3810 section 5.1.3: from 32,768 on it is a number with an exponent.
uint32_t response_ms(uint16_t code) {
  if (code < 0x8000) return code;
  return (uint32_t{code & 0x0fffU} | 0x1000U) << (((code >> 12) & 7U) + 3);
}

// The IPv6 header and the router alert; returns where the message goes.
std::span<uint8_t> write_headers(std::span<uint8_t> to, const Ipv6Address& source,
                                 const Ipv6Address& destination, size_t message_bytes) {
  const size_t bytes = ipv6::kHeaderBytes + kHopByHopBytes + message_bytes;
  ROOST_ASSERT(to.size() >= bytes);
  std::ranges::fill(to.first(bytes), uint8_t{0});
  uint8_t* ip = to.data();
  ip[0] = 0x60;
  store_be16(ip + ipv6::kPayloadLength, static_cast<uint16_t>(kHopByHopBytes + message_bytes));
  ip[ipv6::kNextHeader] = ipv6::kHopByHop;
  ip[ipv6::kHopLimit] = kHopLimitOfListeners;
  std::memcpy(ip + ipv6::kSource, &source, sizeof source);
  std::memcpy(ip + ipv6::kDestination, &destination, sizeof destination);
  const std::array<uint8_t, kHopByHopBytes> hop_by_hop = {
      static_cast<uint8_t>(kProtocolIcmp6), 0, mld::kRouterAlert, 2, 0, 0, mld::kPadN, 0};
  std::ranges::copy(hop_by_hop, to.begin() + ipv6::kHeaderBytes);
  return to.subspan(ipv6::kHeaderBytes + kHopByHopBytes, message_bytes);
}

void write_checksum(const uint8_t* ip, std::span<uint8_t> message) {
  const uint64_t sum = pseudo_header_sum({ip + ipv6::kSource, sizeof(Ipv6Address)},
                                         {ip + ipv6::kDestination, sizeof(Ipv6Address)},
                                         kProtocolIcmp6, static_cast<uint32_t>(message.size())) +
                       sum_words(message);
  store_be16(&message[icmpv6::kChecksum], checksum_of(sum));
}

}  // namespace

std::optional<ListenerQuery> parse_listener_query(const Packet& packet,
                                                  const ParsedPacket& parsed) {
  if (!is_valid_query(packet, parsed)) return {};
  const uint8_t* icmp = packet.data + parsed.l4_offset;
  const bool is_version1 = parsed.l4_bytes == mld::kMessageBytes;
  // RFC 3810 section 8.1: what is between the two versions' lengths is neither.
  if (!is_version1 && parsed.l4_bytes < mld::kQueryBytesMin2) return {};
  const uint16_t code = load_be16(icmp + mld::kResponse);
  ListenerQuery query{.is_version1 = is_version1,
                      .response_ms_max = is_version1 ? code : response_ms(code)};
  std::memcpy(&query.group, icmp + mld::kGroup, sizeof query.group);
  if (query.group != Ipv6Address{} && !query.group.is_multicast()) return {};
  return query;
}

void write_listener_report(std::span<uint8_t> to, const Ipv6Address& source,
                           std::span<const ListenerRecord> records) {
  ROOST_ASSERT(records.size() <= kListenerRecordsMax);
  // A copy: of a constant that is referred to, an unoptimised library would export a weak symbol.
  const std::span<uint8_t> message =
      write_headers(to, source, Ipv6Address{kAllListenerRouters},
                    mld::kReportHeaderBytes + mld::kRecordBytes * records.size());
  message[icmpv6::kType] = mld::kReport2;
  store_be16(&message[mld::kRecordCount], static_cast<uint16_t>(records.size()));
  uint8_t* at = message.data() + mld::kReportHeaderBytes;
  for (const ListenerRecord& record : records) {
    at[0] = static_cast<uint8_t>(record.kind);
    std::memcpy(at + mld::kRecordGroup, &record.group, sizeof record.group);
    at += mld::kRecordBytes;
  }
  write_checksum(to.data(), message);
}

Ipv6Address listener_message_destination(const ListenerRecord& record) {
  return record.kind == ListenerRecord::Kind::kLeft ? kAllRouters : record.group;
}

void write_listener_message(std::span<uint8_t> to, const Ipv6Address& source,
                            const ListenerRecord& record) {
  const std::span<uint8_t> message =
      write_headers(to, source, listener_message_destination(record), mld::kMessageBytes);
  message[icmpv6::kType] = record.kind == ListenerRecord::Kind::kLeft ? mld::kDone1 : mld::kReport1;
  std::memcpy(&message[mld::kGroup], &record.group, sizeof record.group);
  write_checksum(to.data(), message);
}

}  // namespace roost::net
