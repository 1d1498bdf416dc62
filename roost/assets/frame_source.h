// Which host a frame is of, and which service it shows.
#pragma once

#include <optional>

#include "roost/assets/asset_table.h"
#include "roost/net/drop_cause.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::assets {

// A datagram from here to there, as a key; what answers it has the ends the other way round.
// Whatever tags the frames have: a mirror may tag each direction in its own way.
struct UdpPair {
  net::Ipv6Address source{};
  net::Ipv6Address destination{};
  uint16_t source_port = 0;
  uint16_t destination_port = 0;

  [[nodiscard]] UdpPair reversed() const {
    return {destination, source, destination_port, source_port};
  }
};
static_assert(sizeof(UdpPair) == 36, "hashed and compared as bytes, without padding");

struct FrameSource {
  std::optional<net::DropCause> cause{};  // the frame does not parse, and shows nothing
  std::optional<HostKey> host{};          // none: its source is no host's
  std::optional<uint8_t> tcp_flags{};     // of TCP
  std::optional<UdpPair> udp{};

  [[nodiscard]] bool is_syn() const;
  [[nodiscard]] bool is_syn_ack() const;
};

[[nodiscard]] FrameSource read_frame_source(const net::Packet& packet,
                                            const net::ParsedPacket& parsed,
                                            net::ParseVerdict verdict);

}  // namespace roost::assets
