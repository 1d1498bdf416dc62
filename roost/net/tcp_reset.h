// TCP resets of our own: the answer to a segment for a port that nothing serves, as that of a host
// in the state CLOSED (RFC 9293 section 3.10.7.1).
//
// There is none to a reset, to a segment whose checksum is wrong, nor to a fragment, whose segment
// has a length that is not known here. How many are sent is the caller's to limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/net/address.h"
#include "roost/net/answer_frame.h"
#include "roost/net/headers.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// It comes from the address and port that the segment was for, and goes back the way that came.
struct TcpReset {
  MacAddress source_mac{};  // of the port
  VlanTags vlan{};          // of the port's frames
};

inline constexpr size_t kTcpResetBytesMax = kAnswerHeaderBytesMax + tcp::kHeaderBytesMin;

// Writes the reset that answers `packet` as a whole frame to the start of `frame`, which has room
// for kTcpResetBytesMax bytes, and returns its length; 0 when there must be none. `packet` parsed
// as kOk or as a fragment. Sums the whole segment: time grows with it.
[[nodiscard]] size_t make_tcp_reset(const Packet& packet, const ParsedPacket& parsed,
                                    const TcpReset& reset, std::span<uint8_t> frame);

}  // namespace roost::net
