// Neighbour messages received, and which of them change an entry.
#include <algorithm>

#include "roost/base/assert.h"
#include "roost/l3/neighbour_frames.h"
#include "roost/l3/neighbours.h"

namespace roost::l3 {

using enum NeighbourState;

void Neighbours::receive(uint16_t port, const net::ArpMessage& message, Tick now,
                         net::Outbox& outbox) {
  if (is_local(port, message.sender)) {
    ++counters_.conflicts;
    return;
  }
  const bool is_to_us = is_local(port, message.target);
  if (message.is_request && is_to_us) {
    const bool is_sent = send_advertisement(port, interfaces_[port], message, outbox);
    ++(is_sent ? counters_.advertisements_sent : counters_.advertisements_lost);
  }
  MessageKind kind = MessageKind::kUnsolicited;
  if (is_to_us) kind = message.is_request ? MessageKind::kSolicitation : MessageKind::kSolicited;
  consider({port, message.sender, message.sender_mac, kind, true}, now, outbox);
}

void Neighbours::receive(uint16_t port, const net::NeighbourMessage& message,
                         const net::MacAddress& from, Tick now, net::Outbox& outbox) {
  if (!message.is_solicitation) {
    if (is_local(port, message.target)) {
      ++counters_.conflicts;
      return;
    }
    const bool is_solicited = message.is_solicited && is_local(port, message.destination);
    consider(
        {port, message.target, message.link_address,
         is_solicited ? MessageKind::kSolicited : MessageKind::kUnsolicited, message.is_override},
        now, outbox);
    return;
  }
  if (!is_local(port, message.target)) return;
  if (is_local(port, message.source)) {
    ++counters_.conflicts;
    return;
  }
  const net::MacAddress& to = message.link_address ? *message.link_address : from;
  const bool is_sent = send_advertisement(port, interfaces_[port], message, to, outbox);
  ++(is_sent ? counters_.advertisements_sent : counters_.advertisements_lost);
  if (!message.link_address) return;
  consider({port, message.source, message.link_address, MessageKind::kSolicitation, true}, now,
           outbox);
}

void Neighbours::consider(const MacClaim& claim, Tick now, net::Outbox& outbox) {
  const NeighbourIndex index = table_.find(claim.port, claim.address);
  if (index == kNoNeighbour) {
    learn(claim, now);
    return;
  }
  NeighbourEntry& entry = table_.entry(index);
  const bool is_solicited = claim.kind == MessageKind::kSolicited;
  switch (entry.state) {
    case kIncomplete:
      if (!claim.mac) {
        ++counters_.unsolicited_ignored;
      } else if (is_solicited) {
        confirm(index, claim, now, outbox);
      } else {
        enter_unconfirmed(index, claim, now, outbox);
      }
      return;
    case kUnknown:
    case kFailed:
    case kLearned:
      if (claim.mac && claim.kind != MessageKind::kUnsolicited &&
          !(is_solicited && entry.state != kFailed)) {
        enter_unconfirmed(index, claim, now, outbox);
      } else {
        ++counters_.unsolicited_ignored;
      }
      return;
    case kProbe:
    case kReachable:
    case kStale:
      consider_confirmed(index, claim, now, outbox);
      return;
    case kStatic:
      ++counters_.unsolicited_ignored;
      return;
  }
}

// The entry has a MAC that its owner confirmed once.
void Neighbours::consider_confirmed(NeighbourIndex index, const MacClaim& claim, Tick now,
                                    net::Outbox& outbox) {
  const NeighbourEntry& entry = table_.entry(index);
  const bool is_other_mac = claim.mac && *claim.mac != entry.mac;
  const bool is_probe_reply = claim.kind == MessageKind::kSolicited && entry.state == kProbe;
  const bool is_multicast_solicited = entry.solicitation_count > 1;
  if (is_probe_reply && (!is_other_mac || (claim.overrides && is_multicast_solicited))) {
    confirm(index, claim, now, outbox);
  } else if (is_other_mac && claim.overrides) {
    probe(index, now, outbox);
  } else {
    ++counters_.unsolicited_ignored;
  }
}

// Only from a solicitation of an address of ours, by an address of the port's network.
void Neighbours::learn(const MacClaim& claim, Tick now) {
  const auto contains = [&](const net::IpPrefix& own) { return own.contains(claim.address); };
  if (claim.kind != MessageKind::kSolicitation ||
      std::ranges::none_of(interfaces_[claim.port].addresses, contains)) {
    ++counters_.unsolicited_ignored;
    return;
  }
  if (!make_room(Room::kForLearned)) {
    ++counters_.ignored_full;
    return;
  }
  ROOST_ASSERT(claim.mac.has_value());  // a solicitation without one is not considered
  const NeighbourIndex index = table_.create_entry(claim.port, claim.address, false, now);
  table_.entry(index).mac = *claim.mac;
  table_.enter(index, kLearned, now);
  ++counters_.learned;
}

void Neighbours::confirm(NeighbourIndex index, const MacClaim& claim, Tick now,
                         net::Outbox& outbox) {
  NeighbourEntry& entry = table_.entry(index);
  if (claim.mac && entry.state == kProbe && entry.mac != *claim.mac) ++counters_.mac_changes;
  if (claim.mac) entry.mac = *claim.mac;
  entry.solicitation_count = 0;
  table_.enter(index, kReachable, now);
  ++counters_.confirmed;
  release(index, outbox);
}

void Neighbours::enter_unconfirmed(NeighbourIndex index, const MacClaim& claim, Tick now,
                                   net::Outbox& outbox) {
  ROOST_ASSERT(claim.mac.has_value());
  table_.entry(index).mac = *claim.mac;
  table_.enter(index, kLearned, now);
  release(index, outbox);
}

// Probes the owner that is known, unless it was solicited just now.
void Neighbours::probe(NeighbourIndex index, Tick now, net::Outbox& outbox) {
  NeighbourEntry& entry = table_.entry(index);
  if (entry.state == kProbe || now.count - entry.solicited_at.count < config_.ticks.retransmit) {
    ++counters_.unsolicited_ignored;
    return;
  }
  ++counters_.unsolicited_probed;
  entry.solicitation_count = 0;
  table_.enter(index, kProbe, now);
  solicit(index, false, now, outbox);
}

}  // namespace roost::l3
