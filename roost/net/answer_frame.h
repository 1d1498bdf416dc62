// What answers of our own to a received packet share: whether there may be one, and the headers by
// which it goes back the way the packet came, to the MAC that sent it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/net/address.h"
#include "roost/net/headers.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// Whether a packet may be answered at all: not what a group received, not a fragment but the first,
// nothing from or to an address that is not one station's (RFC 1122 section 3.2.2, RFC 4443 section
// 2.4 e).
[[nodiscard]] bool may_be_answered(const Packet& packet, const ParsedPacket& parsed);

struct AnswerHeader {
  MacAddress source_mac{};  // of the port
  VlanTags vlan{};          // of the port's frames
  IpAddress source{};       // of the packet's family
  IpProtocol protocol{};
  uint8_t type_of_service = 0;  // IPv4 only
  size_t payload_bytes = 0;
};

inline constexpr size_t kAnswerHeaderBytesMax =
    ethernet::kHeaderBytes + vlan::kTagsMax * vlan::kTagBytes + ipv6::kHeaderBytes;

struct AnswerFrame {
  std::span<uint8_t> payload{};  // to be written
  size_t frame_bytes = 0;
  uint64_t pseudo_header_sum = 0;  // as a checksum in the payload counts it
};

// Writes the headers of an answer to `packet`'s source to the start of `frame`, which must have
// room for them and the payload.
[[nodiscard]] AnswerFrame write_answer_header(const Packet& packet, const ParsedPacket& parsed,
                                              const AnswerHeader& header, std::span<uint8_t> frame);

}  // namespace roost::net
