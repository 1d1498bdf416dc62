// Reading and translating ICMP errors: see icmp_error.h.
#include "roost/net/icmp_error.h"

#include <optional>

#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/ipv6_extension.h"
#include "roost/net/l4_ports.h"

namespace roost::net {
namespace {

enum class End : uint8_t { kSource, kDestination };

bool is_forwarded_error(bool is_ipv6, uint8_t type) {
  if (is_ipv6) return type >= icmp::kUnreachable6 && type <= icmp::kParameterProblem6;
  return type == icmp::kUnreachable4 || type == icmp::kTimeExceeded4 ||
         type == icmp::kParameterProblem4;
}

bool is_checksum_right(const Packet& packet, const ParsedPacket& parsed) {
  const uint8_t* ip = packet.data + parsed.ip_offset;
  uint64_t sum = sum_words({packet.data + parsed.l4_offset, parsed.l4_bytes});
  if (parsed.is_ipv6) {
    sum += pseudo_header_sum({ip + ipv6::kSource, sizeof(Ipv6Address)},
                             {ip + ipv6::kDestination, sizeof(Ipv6Address)}, kProtocolIcmp6,
                             parsed.l4_bytes);
  }
  return checksum_of(sum) == 0;
}

// What stands at the start of `embedded`: where its transport header is, and its protocol.
struct EmbeddedHeader {
  size_t bytes = 0;
  uint8_t protocol = 0;
  bool is_later_fragment = false;  // and so no transport header is there
};

std::optional<EmbeddedHeader> read_ipv4(std::span<const uint8_t> embedded) {
  if (embedded.size() < ipv4::kHeaderBytesMin) return {};
  const uint8_t version_and_length = embedded[ipv4::kVersionAndLength];
  const size_t header_bytes = size_t{4} * (version_and_length & 15);
  if (version_and_length >> 4 != 4 || header_bytes < ipv4::kHeaderBytesMin) return {};
  const uint16_t fragment = load_be16(&embedded[ipv4::kFragment]);
  return EmbeddedHeader{.bytes = header_bytes,
                        .protocol = embedded[ipv4::kProtocol],
                        .is_later_fragment = (fragment & ipv4::kFragmentOffsetMask) != 0};
}

std::optional<EmbeddedHeader> read_ipv6(std::span<const uint8_t> embedded) {
  if (embedded.size() < ipv6::kHeaderBytes || embedded[0] >> 4 != 6) return {};
  EmbeddedHeader header{.bytes = ipv6::kHeaderBytes, .protocol = embedded[ipv6::kNextHeader]};
  for (size_t count = 0; is_extension_header(header.protocol); ++count) {
    if (count == ipv6::kExtensionHeadersMax) return {};
    if (header.bytes + ipv6::kExtensionBytesMin > embedded.size()) return {};
    const uint8_t* extension = &embedded[header.bytes];
    if (header.protocol == ipv6::kFragmentHeader &&
        (load_be16(extension + ipv6::kFragmentOffsetAndFlags) & ipv6::kFragmentOffsetMask) != 0) {
      header.is_later_fragment = true;
      return header;
    }
    header.bytes += extension_header_bytes(header.protocol, extension[ipv6::kExtensionLength]);
    header.protocol = extension[ipv6::kExtensionNextHeader];
  }
  return header;
}

// The ports of the embedded packet; nothing if it has none.
std::optional<L4Ports> read_ports(const uint8_t* l4, bool is_ipv6, IpProtocol protocol) {
  if (is_tcp_or_udp(protocol)) {
    return L4Ports{.source = load_be16(l4 + tcp::kSourcePort),
                   .destination = load_be16(l4 + tcp::kDestinationPort)};
  }
  const EchoKind kind = echo_kind(is_ipv6, protocol, l4);
  if (kind == EchoKind::kNone) return {};
  return echo_ports(kind, l4);
}

// A word of the ICMP message that is a checksum, as it is now. It was `before`.
void store_checksum(uint8_t* field, uint16_t value, ChecksumChange& message) {
  message.change16(load_be16(field), value);
  store_be16(field, value);
}

void apply_to_message(const Packet& packet, const IcmpError& error, const ChecksumChange& message) {
  uint8_t* field = packet.data + error.icmp_offset + icmp::kChecksum;
  store_be16(field, message.apply(load_be16(field)));
}

// One end of the embedded packet, which is the other end of the error.
template <class Address>
void rewrite_end(const Packet& packet, IcmpError& error, End end, const Endpoint<Address>& to) {
  constexpr bool kIsIpv6 = sizeof(Address) == sizeof(Ipv6Address);
  ROOST_DEBUG_ASSERT(error.is_ipv6 == kIsIpv6);
  constexpr size_t kSource = kIsIpv6 ? ipv6::kSource : ipv4::kSource;
  constexpr size_t kDestination = kIsIpv6 ? ipv6::kDestination : ipv4::kDestination;
  const bool is_source = end == End::kSource;
  uint8_t* outer = packet.data + error.ip_offset;
  uint8_t* embedded = packet.data + error.embedded_ip_offset;
  uint8_t* l4 = packet.data + error.embedded_l4_offset;
  const auto replace_address = [&](uint8_t* field) {
    Address before;
    std::memcpy(&before, field, sizeof before);
    std::memcpy(field, &to.address, sizeof to.address);
    ChecksumChange change;
    change.change(before, to.address);
    return change;
  };

  const ChecksumChange of_outer = replace_address(outer + (is_source ? kDestination : kSource));
  const ChecksumChange of_address =
      replace_address(embedded + (is_source ? kSource : kDestination));
  ChecksumChange of_port;
  if (uint8_t* port = port_field(l4, error.protocol, is_source)) {
    of_port.change16(load_be16(port), to.port);
    store_be16(port, to.port);
    (is_source ? error.source_port : error.destination_port) = to.port;
  }

  ChecksumChange message = of_address + of_port;
  if constexpr (kIsIpv6) {
    message += of_outer;  // through the pseudo header
  } else {
    store_be16(outer + ipv4::kChecksum, of_outer.apply(load_be16(outer + ipv4::kChecksum)));
    uint8_t* field = embedded + ipv4::kChecksum;
    store_checksum(field, of_address.apply(load_be16(field)), message);
  }
  if (error.has_l4_checksum) {
    ChecksumChange change = of_port;
    if (covers_addresses(error.protocol)) change += of_address;
    uint8_t* field = l4 + l4_checksum_offset(error.protocol);
    const uint16_t before = load_be16(field);
    store_checksum(
        field, error.protocol == IpProtocol::kUdp ? change.apply_udp(before) : change.apply(before),
        message);
  }
  apply_to_message(packet, error, message);
}

}  // namespace

IcmpVerdict parse_icmp_error(const Packet& packet, const ParsedPacket& parsed, IcmpError& error) {
  if (parsed.protocol != (parsed.is_ipv6 ? kProtocolIcmp6 : kProtocolIcmp4)) {
    return IcmpVerdict::kNotIcmp;
  }
  if (parsed.fragment.is_one() || parsed.l4_bytes < icmp::kHeaderBytes) {
    return IcmpVerdict::kTruncated;
  }
  if (parsed.l4_offset + parsed.l4_bytes > packet.contiguous_bytes) {
    return IcmpVerdict::kSplitHeaders;
  }
  const std::span<const uint8_t> message(packet.data + parsed.l4_offset, parsed.l4_bytes);
  if (!is_forwarded_error(parsed.is_ipv6, message[icmp::kType])) return IcmpVerdict::kNotError;
  if (!is_checksum_right(packet, parsed)) return IcmpVerdict::kBadChecksum;

  const std::span<const uint8_t> embedded = message.subspan(icmp::kHeaderBytes);
  const auto header = parsed.is_ipv6 ? read_ipv6(embedded) : read_ipv4(embedded);
  if (!header) return IcmpVerdict::kBadEmbedded;
  if (header->is_later_fragment) return IcmpVerdict::kLaterFragment;
  const IpProtocol protocol{header->protocol};
  const bool can_be_echo = protocol == parsed.protocol;
  if (!is_tcp_or_udp(protocol) && !can_be_echo) return IcmpVerdict::kOtherProtocol;
  if (header->bytes + icmp::kEmbeddedL4BytesMin > embedded.size()) return IcmpVerdict::kTruncated;

  const uint8_t* l4 = &embedded[header->bytes];
  const std::optional<L4Ports> ports = read_ports(l4, parsed.is_ipv6, protocol);
  if (!ports) return IcmpVerdict::kOtherProtocol;
  const size_t embedded_ip_offset = parsed.l4_offset + icmp::kHeaderBytes;
  error = {.is_ipv6 = parsed.is_ipv6,
           .protocol = protocol,
           .has_l4_checksum = header->bytes + l4_checksum_offset(protocol) + 2 <= embedded.size(),
           .source_port = ports->source,
           .destination_port = ports->destination,
           .ip_offset = parsed.ip_offset,
           .icmp_offset = parsed.l4_offset,
           .embedded_ip_offset = static_cast<uint16_t>(embedded_ip_offset),
           .embedded_l4_offset = static_cast<uint16_t>(embedded_ip_offset + header->bytes)};
  return IcmpVerdict::kError;
}

void rewrite_error_source(const Packet& packet, IcmpError& error, const Endpoint4& source) {
  rewrite_end(packet, error, End::kSource, source);
}

void rewrite_error_source(const Packet& packet, IcmpError& error, const Endpoint6& source) {
  rewrite_end(packet, error, End::kSource, source);
}

void rewrite_error_destination(const Packet& packet, IcmpError& error,
                               const Endpoint4& destination) {
  rewrite_end(packet, error, End::kDestination, destination);
}

void rewrite_error_destination(const Packet& packet, IcmpError& error,
                               const Endpoint6& destination) {
  rewrite_end(packet, error, End::kDestination, destination);
}

uint32_t error_sequence(const Packet& packet, const IcmpError& error) {
  ROOST_DEBUG_ASSERT(error.protocol == IpProtocol::kTcp);
  return load_be32(packet.data + error.embedded_l4_offset + tcp::kSequence);
}

void rewrite_error_sequence(const Packet& packet, const IcmpError& error, uint32_t sequence) {
  uint8_t* l4 = packet.data + error.embedded_l4_offset;
  ChecksumChange of_sequence;
  of_sequence.change32(load_be32(l4 + tcp::kSequence), sequence);
  store_be32(l4 + tcp::kSequence, sequence);
  ChecksumChange message = of_sequence;
  if (error.has_l4_checksum) {
    uint8_t* field = l4 + tcp::kChecksum;
    store_checksum(field, of_sequence.apply(load_be16(field)), message);
  }
  apply_to_message(packet, error, message);
}

void lower_error_mtu(const Packet& packet, const IcmpError& error, uint16_t bytes) {
  uint8_t* message = packet.data + error.icmp_offset;
  const bool is_too_big = error.is_ipv6 ? message[icmp::kType] == icmp::kTooBig6
                                        : message[icmp::kType] == icmp::kUnreachable4 &&
                                              message[icmp::kCode] == icmp::kFragmentationNeeded;
  if (!is_too_big) return;
  ChecksumChange change;
  if (error.is_ipv6) {
    uint8_t* field = message + icmp::kMtu6;
    const uint32_t mtu = load_be32(field);
    if (mtu <= bytes) return;
    store_be32(field, mtu - bytes);
    change.change32(mtu, mtu - bytes);
  } else {
    uint8_t* field = message + icmp::kMtu4;
    const uint16_t mtu = load_be16(field);
    if (mtu <= bytes) return;
    store_be16(field, static_cast<uint16_t>(mtu - bytes));
    change.change16(mtu, static_cast<uint16_t>(mtu - bytes));
  }
  apply_to_message(packet, error, change);
}

}  // namespace roost::net
