// What NAT changes of an IPv4 packet, decided before the packet is touched. Of an ICMP error it is
// the ends of the packet that it embeds, and with them where it goes to and comes from.
#pragma once

#include <optional>

#include "roost/net/flow_key.h"
#include "roost/net/icmp_error.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"

namespace roost::net {

struct Translation {
  // Nothing: it stays.
  std::optional<Endpoint4> source{};
  std::optional<Endpoint4> destination{};
  // Of an error, which answers an embedded packet: the source is what the embedded destination
  // becomes, and the other way round.
  std::optional<IcmpError> error{};

  // The address that the packet will go to.
  void change_destination(Ipv4Address& address) const {
    if (destination) address = destination->address;
  }

  // Constant time.
  void apply(const Packet& packet, ParsedPacket& parsed) {
    if (error) {
      if (source) rewrite_error_destination(packet, *error, *source);
      if (destination) rewrite_error_source(packet, *error, *destination);
      return;
    }
    if (source) rewrite_source(packet, parsed, *source);
    if (destination) rewrite_destination(packet, parsed, *destination);
  }
};

}  // namespace roost::net
