// The model of ICMP errors: see icmp_check.h.
#include "tests/net/icmp_check.h"

#include <algorithm>
#include <array>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/echo.h"
#include "roost/net/icmp_answer.h"
#include "roost/net/icmp_error.h"
#include "tests/net/random_frame.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

// The checksum of an ICMP message, whose own field must be zero.
uint16_t icmp_checksum(Bytes frame, size_t ip, size_t icmp, size_t icmp_bytes, bool is_ipv6) {
  Bytes covered;
  if (is_ipv6) {
    append(covered, part(frame, ip + 8, 32));
    append(covered, Bytes{0, 0, static_cast<uint8_t>(icmp_bytes >> 8),
                          static_cast<uint8_t>(icmp_bytes & 0xff), 0, 0, 0, 58});
  }
  append(covered, part(frame, icmp, icmp_bytes));
  return naive_checksum(covered);
}

// The sum of the words from `at` on, modulo 65,535.
uint32_t sum_modulo(const Bytes& bytes, size_t at, size_t count) {
  uint32_t sum = 0;
  for (size_t i = at; i < at + count; i += 2) sum = (sum + load_be16(&bytes[i])) % 65'535;
  return sum;
}

struct Places {
  size_t outer_address, embedded_address, address_bytes;
  size_t port;  // 0: that end has none
  bool are_addresses_covered;
};

// A checksum field moved against the change of what it covers: exactly, but for the two names of
// zero.
void check_moved(const Bytes& before, const Bytes& after, size_t field, const Places& at) {
  const auto covered = [&](const Bytes& bytes) {
    return (at.are_addresses_covered ? sum_modulo(bytes, at.embedded_address, at.address_bytes)
                                     : 0) +
           (at.port != 0 ? sum_modulo(bytes, at.port, 2) : 0);
  };
  const uint32_t sum_before = covered(before) + load_be16(&before[field]);
  const uint32_t sum_after = covered(after) + load_be16(&after[field]);
  ROOST_ASSERT(sum_before % 65'535 == sum_after % 65'535);
}

// The embedded packet's transport checksum, where the whole of it is there and has one.
bool is_whole(const Bytes& frame, const IcmpError& error, size_t message_end, size_t& l4_bytes) {
  const uint8_t* ip = &frame[error.embedded_ip_offset];
  const size_t end = error.embedded_ip_offset +
                     (error.is_ipv6 ? size_t{40} + load_be16(ip + 4) : load_be16(ip + 2));
  const bool is_fragment = error.is_ipv6 ? error.embedded_l4_offset != error.embedded_ip_offset + 40
                                         : (load_be16(ip + 6) & 0x3fff) != 0;
  if (is_fragment || end > message_end || end < error.embedded_l4_offset + 20U) return false;
  l4_bytes = end - error.embedded_l4_offset;
  return true;
}

uint16_t l4_sum_with_pseudo_header(Bytes frame, const IcmpError& error, size_t l4_bytes) {
  Bytes covered;
  const size_t ip = error.embedded_ip_offset;
  if (error.protocol != kProtocolIcmp4) {
    append(covered, error.is_ipv6 ? part(frame, ip + 8, 32) : part(frame, ip + 12, 8));
    append(covered,
           Bytes{0, static_cast<uint8_t>(error.protocol), static_cast<uint8_t>(l4_bytes >> 8),
                 static_cast<uint8_t>(l4_bytes & 0xff)});
  }
  append(covered, part(frame, error.embedded_l4_offset, l4_bytes));
  return naive_checksum(covered);
}

template <class Address>
Endpoint<Address> some_endpoint() {
  Endpoint<Address> endpoint;
  for (size_t i = 0; i < endpoint.address.bytes.size(); ++i) {
    endpoint.address.bytes[i] = static_cast<uint8_t>(0x35 + 41 * i);
  }
  endpoint.port = 0xfe07;
  return endpoint;
}

template <class Address>
void rewrite(const Packet& packet, IcmpError& error, bool rewrites_source) {
  const auto to = some_endpoint<Address>();
  if (rewrites_source) {
    rewrite_error_source(packet, error, to);
  } else {
    rewrite_error_destination(packet, error, to);
  }
}

bool is_echo(const IcmpError& error) {
  return error.protocol != IpProtocol::kTcp && error.protocol != IpProtocol::kUdp;
}

size_t checksum_field(const IcmpError& error) {
  if (is_echo(error)) return error.embedded_l4_offset + 2U;
  return error.embedded_l4_offset + (error.protocol == IpProtocol::kTcp ? 16U : 6U);
}

// Of echo, the identifier is the port of the end that asks.
size_t port_field_of(const Bytes& frame, const IcmpError& error, bool is_source) {
  const size_t l4 = error.embedded_l4_offset;
  if (!is_echo(error)) return l4 + (is_source ? 0 : 2);
  const bool is_request = frame[l4] == (error.is_ipv6 ? 128 : 8);
  return is_request == is_source ? l4 + 4 : 0;
}

Places places_of(const Bytes& frame, const IcmpError& error, bool rewrites_source) {
  const size_t source = error.is_ipv6 ? 8 : 12;
  const size_t address_bytes = error.is_ipv6 ? 16 : 4;
  return {error.ip_offset + source + (rewrites_source ? address_bytes : 0),
          error.embedded_ip_offset + source + (rewrites_source ? 0 : address_bytes), address_bytes,
          port_field_of(frame, error, rewrites_source), error.protocol != kProtocolIcmp4};
}

// What the frame must be afterwards: written field by field, checksums anew. Of the embedded
// packet's checksums those are taken over that cannot be computed; check_moved is for them.
Bytes expected_frame(const Bytes& before, const Bytes& after, const IcmpError& error,
                     const ParsedPacket& parsed, const Places& at) {
  Bytes expected = before;
  const auto write_address = [&](size_t place) {
    for (size_t i = 0; i < at.address_bytes; ++i) {
      expected[place + i] = static_cast<uint8_t>(0x35 + 41 * i);
    }
  };
  write_address(at.outer_address);
  write_address(at.embedded_address);
  if (at.port != 0) store_be16(&expected[at.port], 0xfe07);
  if (!error.is_ipv6) {
    const auto fix_header = [&](size_t ip) {
      store_be16(&expected[ip + 10], 0);
      store_be16(&expected[ip + 10],
                 naive_checksum(part(expected, ip, size_t{4} * (expected[ip] & 15))));
    };
    fix_header(error.ip_offset);
    Bytes header = before;
    const size_t ip = error.embedded_ip_offset;
    if (naive_checksum(part(header, ip, size_t{4} * (header[ip] & 15))) == 0) {
      fix_header(ip);
    } else {
      std::copy_n(&after[ip + 10], 2, &expected[ip + 10]);
    }
  }
  const size_t field = checksum_field(error);
  if (error.has_l4_checksum) std::copy_n(&after[field], 2, &expected[field]);
  fix_icmp_checksum(expected, parsed);
  return expected;
}

void check_l4_checksum(const Bytes& before, const Bytes& after, const IcmpError& error,
                       size_t message_end, const Places& at) {
  const size_t field = checksum_field(error);
  if (!error.has_l4_checksum) {
    ROOST_ASSERT(field + 2 > message_end);
    return;
  }
  if (error.protocol == IpProtocol::kUdp) {
    ROOST_ASSERT((load_be16(&before[field]) == 0) == (load_be16(&after[field]) == 0));
    if (load_be16(&before[field]) == 0) return;
  }
  check_moved(before, after, field, at);
  size_t l4_bytes = 0;
  if (!is_whole(before, error, message_end, l4_bytes)) return;
  ROOST_ASSERT((l4_sum_with_pseudo_header(before, error, l4_bytes) == 0) ==
               (l4_sum_with_pseudo_header(after, error, l4_bytes) == 0));
}

void check_translation(TestFrame& frame, const ParsedPacket& parsed, IcmpError error,
                       bool rewrites_source) {
  const Bytes before = frame.bytes();
  const IcmpError error_before = error;
  const Places at = places_of(before, error, rewrites_source);
  if (parsed.is_ipv6) {
    rewrite<Ipv6Address>(frame.packet, error, rewrites_source);
  } else {
    rewrite<Ipv4Address>(frame.packet, error, rewrites_source);
  }
  const Bytes after = frame.bytes();
  ROOST_ASSERT(after == expected_frame(before, after, error_before, parsed, at));
  check_l4_checksum(before, after, error_before, parsed.l4_offset + parsed.l4_bytes, at);
  if (!error.is_ipv6) {
    const size_t field = size_t{error.embedded_ip_offset} + 10;
    ROOST_ASSERT((sum_modulo(before, at.embedded_address, 4) + load_be16(&before[field])) %
                     65'535 ==
                 (sum_modulo(after, at.embedded_address, 4) + load_be16(&after[field])) % 65'535);
  }
  ParsedPacket parsed_again;
  ROOST_ASSERT(parse(frame.packet, parsed_again) == ParseVerdict::kUnsupportedProtocol);
  IcmpError again;
  ROOST_ASSERT(parse_icmp_error(frame.packet, parsed_again, again) == IcmpVerdict::kError);
  ROOST_ASSERT(again == error);
}

// The rules of which packets get no answer, once more.
bool may_be_answered(const Bytes& frame, const ParsedPacket& parsed) {
  const uint8_t* ip = &frame[parsed.ip_offset];
  if ((frame[0] & 1) != 0 || parsed.fragment.offset != 0) return false;
  const auto is_station = [&](const uint8_t* address) {
    if (!parsed.is_ipv6) return address[0] > 0 && address[0] < 224 && address[0] != 127;
    const std::array<uint8_t, 15> zeroes{};
    return address[0] != 0xff &&
           !(std::equal(address, address + 15, zeroes.begin()) && address[15] < 2);
  };
  if (!is_station(ip + (parsed.is_ipv6 ? 8 : 12)) || !is_station(ip + (parsed.is_ipv6 ? 24 : 16)))
    return false;
  const auto protocol = static_cast<uint8_t>(parsed.protocol);
  if (protocol != 1 && protocol != 58) return true;
  if (parsed.l4_bytes == 0 || parsed.l4_offset >= frame.size()) return false;
  const uint8_t type = frame[parsed.l4_offset];
  if (parsed.is_ipv6) return type >= 128;
  return type != 3 && type != 4 && type != 5 && type != 11 && type != 12;
}

void check_answer(const Bytes& received, const ParsedPacket& parsed, const IcmpAnswer& answer,
                  const Bytes& frame) {
  TestFrame sent(frame);
  ParsedPacket parsed_answer;
  ROOST_ASSERT(parse(sent.packet, parsed_answer) == ParseVerdict::kUnsupportedProtocol);
  ROOST_ASSERT(parsed_answer.ip_offset == parsed.ip_offset && parsed_answer.vlan == parsed.vlan);
  ROOST_ASSERT(frame.size() == parsed_answer.ip_offset + parsed_answer.ip_bytes);
  ROOST_ASSERT(parsed_answer.ip_bytes <= (parsed.is_ipv6 ? 1'280U : 576U));
  ROOST_ASSERT(std::equal(&frame[0], &frame[6], &received[6]));
  const size_t source = parsed.is_ipv6 ? 8 : 12;
  const size_t address_bytes = parsed.is_ipv6 ? 16 : 4;
  ROOST_ASSERT(std::equal(&frame[parsed.ip_offset + source + address_bytes],
                          &frame[parsed.ip_offset + source + 2 * address_bytes],
                          &received[parsed.ip_offset + source]));
  const size_t icmp = parsed_answer.l4_offset;
  ROOST_ASSERT(
      icmp_checksum(frame, parsed.ip_offset, icmp, parsed_answer.l4_bytes, parsed.is_ipv6) == 0);
  const bool is_too_big = answer.reason == IcmpAnswer::Reason::kTooBig;
  const std::array<uint8_t, 2> type_and_code =
      parsed.is_ipv6
          ? std::array<uint8_t, 2>{uint8_t(is_too_big ? 2 : 3), 0}
          : std::array<uint8_t, 2>{uint8_t(is_too_big ? 3 : 11), uint8_t(is_too_big ? 4 : 0)};
  ROOST_ASSERT(std::equal(type_and_code.begin(), type_and_code.end(), &frame[icmp]));
  ROOST_ASSERT(load_be32(&frame[icmp + 4]) == (is_too_big ? answer.mtu : 0U));
  const size_t embedded = parsed_answer.l4_bytes - 8;
  ROOST_ASSERT(
      std::equal(&frame[icmp + 8], &frame[icmp + 8] + embedded, &received[parsed.ip_offset]));
  // There is no error about an error.
  Bytes room(kIcmpAnswerBytesMax);
  ROOST_ASSERT(make_icmp_answer(sent.packet, parsed_answer, answer, room) == 0);
  IcmpError error;
  const IcmpVerdict verdict = parse_icmp_error(sent.packet, parsed_answer, error);
  const bool has_ports = parsed.l4_offset + 8U <= parsed.ip_offset + embedded;
  ParsedPacket sent_before = parsed;
  const bool is_tracked = parsed.protocol == IpProtocol::kTcp ||
                          parsed.protocol == IpProtocol::kUdp ||
                          (has_ports && read_echo_ports(TestFrame(received).packet, sent_before));
  ROOST_ASSERT((verdict == IcmpVerdict::kError) == (is_tracked && has_ports));
  if (verdict != IcmpVerdict::kError) return;
  ROOST_ASSERT(error.source_port == sent_before.source_port);
  ROOST_ASSERT(error.destination_port == sent_before.destination_port);
}

bool check_answers(TestFrame& frame, const ParsedPacket& parsed, bool is_too_big) {
  const Bytes before = frame.bytes();
  IcmpAnswer answer = {
      .reason = is_too_big ? IcmpAnswer::Reason::kTooBig : IcmpAnswer::Reason::kTimeExceeded,
      .mtu = static_cast<uint16_t>(is_too_big ? 1'400 : 0),
      .source_mac = {{2, 0, 0, 0, 0, 1}},
      .vlan = parsed.vlan,
      .source = Ipv4Address{{192, 0, 2, 1}}};
  if (parsed.is_ipv6) answer.source = Ipv6Address{{0x20, 1, 0x0d, 0xb8}};
  Bytes room(kIcmpAnswerBytesMax);
  const size_t bytes = make_icmp_answer(frame.packet, parsed, answer, room);
  ROOST_ASSERT(frame.bytes() == before);
  ROOST_ASSERT((bytes != 0) == may_be_answered(before, parsed));
  if (bytes == 0) return false;
  room.resize(bytes);
  check_answer(before, parsed, answer, room);
  return true;
}

}  // namespace

void fix_icmp_checksum(Bytes& frame, const ParsedPacket& parsed) {
  store_be16(&frame[size_t{parsed.l4_offset} + 2], 0);
  store_be16(
      &frame[size_t{parsed.l4_offset} + 2],
      icmp_checksum(frame, parsed.ip_offset, parsed.l4_offset, parsed.l4_bytes, parsed.is_ipv6));
}

IcmpSeen check_icmp(std::span<const uint8_t> bytes, const IcmpChoices& choices) {
  const uint32_t total = static_cast<uint32_t>(bytes.size());
  const uint32_t contiguous = total - std::min<uint32_t>(total, choices.cut_bytes);
  TestFrame frame(bytes, {.headroom = 0, .contiguous_bytes = contiguous});
  ParsedPacket parsed;
  const ParseVerdict verdict = parse(frame.packet, parsed);
  if (verdict != ParseVerdict::kOk && verdict != ParseVerdict::kFragment &&
      verdict != ParseVerdict::kUnsupportedProtocol) {
    return {};
  }
  IcmpSeen seen;
  seen.is_answered = check_answers(frame, parsed, choices.is_too_big);
  if (verdict != ParseVerdict::kUnsupportedProtocol) return seen;
  IcmpError error;
  const IcmpVerdict icmp = parse_icmp_error(frame.packet, parsed, error);
  ROOST_ASSERT(frame.bytes().size() == contiguous);
  if (icmp == IcmpVerdict::kBadChecksum) {
    Bytes repaired(bytes.begin(), bytes.end());
    fix_icmp_checksum(repaired, parsed);
    ROOST_ASSERT(parse_icmp_error(TestFrame(repaired).packet, parsed, error) !=
                 IcmpVerdict::kBadChecksum);
    return check_icmp(repaired, choices);
  }
  if (icmp != IcmpVerdict::kError) return seen;
  ROOST_ASSERT(error.embedded_l4_offset + icmp::kEmbeddedL4BytesMin <=
               parsed.l4_offset + parsed.l4_bytes);
  seen.is_error = true;
  check_translation(frame, parsed, error, choices.rewrites_source);
  return seen;
}

}  // namespace roost::net
