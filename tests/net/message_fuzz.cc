// libFuzzer target: any bytes as a frame, read as ARP, neighbour discovery, listener queries and
// echo. What is read is written and read again, to the same; the frame has no byte more than it
// says.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/arp.h"
#include "roost/net/echo.h"
#include "roost/net/multicast_listener.h"
#include "roost/net/neighbour_discovery.h"
#include "roost/net/parse.h"
#include "tests/net/message_frames.h"
#include "tests/net/test_frame.h"

namespace {

using roost::net::Packet;
using roost::net::ParsedPacket;

void check_arp(std::span<const uint8_t> bytes) {
  const auto message = roost::net::parse_arp(bytes);
  if (!message) return;
  ROOST_ASSERT(message->sender_mac.is_station());
  uint8_t written[roost::net::kArpBytes];
  roost::net::write_arp(written, *message);
  ROOST_ASSERT(std::memcmp(written, bytes.data(), sizeof written) == 0);
}

void check_neighbour_message(const Packet& packet, const ParsedPacket& parsed) {
  const auto message = roost::net::parse_neighbour_message(packet, parsed);
  if (!message) return;
  uint8_t written[roost::net::kNeighbourMessageBytes];
  const size_t bytes = roost::net::write_neighbour_message(written, *message);
  uint8_t frame[14 + sizeof written] = {};
  frame[12] = 0x86;
  frame[13] = 0xdd;
  std::memcpy(frame + 14, written, bytes);
  roost::net::TestFrame again({frame, 14 + bytes});
  ParsedPacket parsed_again;
  ROOST_ASSERT(parse(again.packet, parsed_again) == roost::net::ParseVerdict::kUnsupportedProtocol);
  ROOST_ASSERT(roost::net::parse_neighbour_message(again.packet, parsed_again) == message);
}

void check_query(const Packet& packet, const ParsedPacket& parsed) {
  const auto query = roost::net::parse_listener_query(packet, parsed);
  if (!query) return;
  ROOST_ASSERT(parsed.ttl == 1 && query->response_ms_max <= 8'387'584);
  ROOST_ASSERT(query->group == roost::net::Ipv6Address{} || query->group.is_multicast());
  const roost::net::ListenerRecord record = {roost::net::ListenerRecord::Kind::kListens,
                                             query->group};
  uint8_t written[roost::net::kListenerMessageBytes];
  roost::net::write_listener_message(written, query->group, record);
}

// 0: the bytes themselves. Else one of the real frames, with each pair of bytes (place, value) put
// into it, and its ICMPv6 checksum right if the second highest bit says so.
roost::net::Bytes frame_of(uint8_t choice, std::span<const uint8_t> bytes) {
  using namespace roost::net;
  const Bytes* frames[] = {&kArpRequest,    &kArpReply,  &kSolicitation, &kDuplicateCheck,
                           &kAdvertisement, &kEcho4,     &kEcho6,        &kQuery1,
                           &kQuery2,        &kGroupQuery};
  const size_t which = choice % 11;
  if (which == 0) return {bytes.begin(), bytes.end()};
  Bytes frame = *frames[which - 1];
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) frame[bytes[i] % frame.size()] = bytes[i + 1];
  const size_t icmp_at = which > 7 ? kListenerIcmp6At : kIcmp6At;
  if ((choice & 64) != 0 && frame.size() > icmp_at + 4) mend_checksum(frame, icmp_at);
  return frame;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const roost::net::Bytes bytes = frame_of(data[0], {data + 2, size - 2});
  check_arp(std::span(bytes).subspan(std::min<size_t>(14, bytes.size())));
  const uint32_t cut = std::min<uint32_t>(data[1], static_cast<uint32_t>(bytes.size()));
  roost::net::TestFrame frame(bytes,
                              {.contiguous_bytes = static_cast<uint32_t>(bytes.size()) - cut});
  ParsedPacket parsed;
  if (parse(frame.packet, parsed) != roost::net::ParseVerdict::kUnsupportedProtocol) return 0;
  check_neighbour_message(frame.packet, parsed);
  check_query(frame.packet, parsed);
  if (roost::net::is_echo_request(frame.packet, parsed)) {
    reply_to_echo(frame.packet, parsed);
    ROOST_ASSERT(!roost::net::is_echo_request(frame.packet, parsed));
  }
  return 0;
}
