// ICMP errors about packets that could have been sent.
#include <array>
#include <random>
#include <span>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "tests/net/icmp_check.h"
#include "tests/net/random_frame.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

// Makes the TCP or UDP packet of a frame one of ICMP echo, with the right checksum.
void become_echo(Bytes& frame, ParsedPacket& parsed, bool is_request) {
  const size_t protocol_field = parsed.ip_offset + (parsed.is_ipv6 ? 6U : 9U);
  const bool has_extensions = parsed.is_ipv6 && parsed.l4_offset != parsed.ip_offset + 40;
  if (has_extensions) return;
  frame[protocol_field] = parsed.is_ipv6 ? 58 : 1;
  const std::array<uint8_t, 2> types =
      parsed.is_ipv6 ? std::array<uint8_t, 2>{129, 128} : std::array<uint8_t, 2>{0, 8};
  frame[parsed.l4_offset] = types[is_request ? 1 : 0];
  frame[parsed.l4_offset + 1U] = 0;
  parsed.protocol = parsed.is_ipv6 ? kProtocolIcmp6 : kProtocolIcmp4;
  const size_t end = size_t{parsed.ip_offset} + parsed.ip_bytes;
  parsed.l4_bytes = static_cast<uint32_t>(end - parsed.l4_offset);
  fix_icmp_checksum(frame, parsed);
  if (!parsed.is_ipv6) {
    store_be16(&frame[parsed.ip_offset + 10U], 0);
    store_be16(
        &frame[parsed.ip_offset + 10U],
        naive_checksum(part(frame, parsed.ip_offset, size_t{4} * (frame[parsed.ip_offset] & 15))));
  }
}

}  // namespace

Bytes random_icmp_error(std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  Bytes about = random_frame(random);
  ParsedPacket parsed;
  ROOST_ASSERT(parse(TestFrame(about).packet, parsed) == ParseVerdict::kOk);
  if (below(3) == 0) become_echo(about, parsed, below(2) == 0);
  const size_t least = size_t{parsed.l4_offset} - parsed.ip_offset + 8;
  const size_t embedded = least + below(parsed.ip_bytes - least + 1);
  const bool is_ipv6 = parsed.is_ipv6;
  Bytes frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 0x10};
  append(frame, is_ipv6 ? Bytes{0x86, 0xdd} : Bytes{8, 0});
  const size_t message_bytes = 8 + embedded;
  const auto address = [&](size_t count) {
    Bytes bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(1 + below(99));
    return bytes;
  };
  if (is_ipv6) {
    append(frame, Bytes{0x60, 0, 0, 0, static_cast<uint8_t>(message_bytes >> 8),
                        static_cast<uint8_t>(message_bytes & 0xff), 58, 64});
    append(frame, address(16));
    append(frame, part(about, parsed.ip_offset + 8U, 16));
  } else {
    const size_t ip_bytes = 20 + message_bytes;
    append(frame, Bytes{0x45, 0, static_cast<uint8_t>(ip_bytes >> 8),
                        static_cast<uint8_t>(ip_bytes & 0xff), 0, 0, 0, 0, 64, 1, 0, 0});
    append(frame, address(4));
    append(frame, part(about, parsed.ip_offset + 12U, 4));
    store_be16(&frame[ethernet::kHeaderBytes + 10],
               naive_checksum(part(frame, ethernet::kHeaderBytes, 20)));
  }
  const std::array<uint8_t, 3> types4 = {3, 11, 12};
  const uint8_t type = is_ipv6 ? static_cast<uint8_t>(1 + below(4)) : types4[below(3)];
  append(frame, Bytes{type, static_cast<uint8_t>(below(5)), 0, 0, 0, 0, 5, 0});
  append(frame, part(about, parsed.ip_offset, embedded));
  ParsedPacket outer;
  ROOST_ASSERT(parse(TestFrame(frame).packet, outer) == ParseVerdict::kUnsupportedProtocol);
  fix_icmp_checksum(frame, outer);
  return frame;
}

}  // namespace roost::net
