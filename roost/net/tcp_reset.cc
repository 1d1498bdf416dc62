#include "roost/net/tcp_reset.h"

#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/flow_key.h"
#include "roost/net/l4_checksum.h"
#include "roost/net/tcp_segment.h"

namespace roost::net {
namespace {

bool may_be_reset(const Packet& packet, const ParsedPacket& parsed) {
  return parsed.protocol == IpProtocol::kTcp && !parsed.fragment.is_one() &&
         (parsed.tcp_flags & tcp::kRst) == 0 && may_be_answered(packet, parsed) &&
         verify_l4_checksum(packet, parsed) != L4ChecksumVerdict::kWrong;
}

IpAddress destination_of(const Packet& packet, const ParsedPacket& parsed) {
  if (parsed.is_ipv6) return FlowKey6::from_packet(packet, parsed).destination;
  return FlowKey4::from_packet(packet, parsed).destination;
}

}  // namespace

size_t make_tcp_reset(const Packet& packet, const ParsedPacket& parsed, const TcpReset& reset,
                      std::span<uint8_t> frame) {
  ROOST_ASSERT(frame.size() >= kTcpResetBytesMax);
  if (!may_be_reset(packet, parsed)) return 0;
  const AnswerFrame answer = write_answer_header(packet, parsed,
                                                 {.source_mac = reset.source_mac,
                                                  .vlan = reset.vlan,
                                                  .source = destination_of(packet, parsed),
                                                  .protocol = IpProtocol::kTcp,
                                                  .payload_bytes = tcp::kHeaderBytesMin},
                                                 frame);
  const uint8_t* received = packet.data + parsed.l4_offset;
  const TcpSegment segment = read_tcp_segment(packet, parsed);
  uint8_t* header = answer.payload.data();
  std::memset(header, 0, tcp::kHeaderBytesMin);
  std::memcpy(header + tcp::kSourcePort, received + tcp::kDestinationPort, 2);
  std::memcpy(header + tcp::kDestinationPort, received + tcp::kSourcePort, 2);
  // Where the sender says what it expects next, that is the reset's place; else the reset says what
  // it answers.
  if (segment.has(tcp::kAck)) {
    store_be32(header + tcp::kSequence, segment.acknowledgement);
    header[tcp::kFlags] = tcp::kRst;
  } else {
    store_be32(header + tcp::kAcknowledgement, segment.end());
    header[tcp::kFlags] = tcp::kRst | tcp::kAck;
  }
  header[tcp::kDataOffset] = tcp::kHeaderBytesMin / 4 << 4;
  store_be16(header + tcp::kChecksum,
             checksum_of(answer.pseudo_header_sum + sum_words(answer.payload)));
  return answer.frame_bytes;
}

}  // namespace roost::net
