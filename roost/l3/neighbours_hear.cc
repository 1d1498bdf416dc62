// What is said about neighbours, and which of it is believed.
#include <algorithm>

#include "roost/base/assert.h"
#include "roost/l3/neighbour_frames.h"
#include "roost/l3/neighbours.h"

namespace roost::l3 {

using enum NeighbourState;

void Neighbours::hear(uint16_t port, const net::ArpMessage& message, Tick now,
                      net::Outbox& outbox) {
  if (is_answered(port, message.sender)) {
    ++counters_.conflicts;
    return;
  }
  const bool is_to_us = is_answered(port, message.target);
  if (message.is_request && is_to_us) {
    const bool is_sent = send_answer(port, interfaces_[port], message, outbox);
    ++(is_sent ? counters_.answers_given : counters_.answers_lost);
  }
  Claim claim = Claim::kAnnouncement;
  if (is_to_us) claim = message.is_request ? Claim::kQuestion : Claim::kAnswer;
  consider({port, message.sender, message.sender_mac, claim, true}, now, outbox);
}

void Neighbours::hear(uint16_t port, const net::NeighbourMessage& message,
                      const net::MacAddress& from, Tick now, net::Outbox& outbox) {
  if (!message.is_solicitation) {
    if (is_answered(port, message.target)) {
      ++counters_.conflicts;
      return;
    }
    const bool is_answer = message.is_solicited && is_answered(port, message.destination);
    consider({port, message.target, message.link_address,
              is_answer ? Claim::kAnswer : Claim::kAnnouncement, message.is_override},
             now, outbox);
    return;
  }
  if (!is_answered(port, message.target)) return;
  if (is_answered(port, message.source)) {
    ++counters_.conflicts;
    return;
  }
  const net::MacAddress& to = message.link_address ? *message.link_address : from;
  const bool is_sent = send_answer(port, interfaces_[port], message, to, outbox);
  ++(is_sent ? counters_.answers_given : counters_.answers_lost);
  if (!message.link_address) return;
  consider({port, message.source, message.link_address, Claim::kQuestion, true}, now, outbox);
}

void Neighbours::consider(const Said& said, Tick now, net::Outbox& outbox) {
  const NeighbourIndex index = table_.find(said.port, said.address);
  if (index == kNoNeighbour) {
    learn(said, now);
    return;
  }
  NeighbourEntry& entry = table_.entry(index);
  const bool is_answer = said.claim == Claim::kAnswer;
  switch (entry.state) {
    case kIncomplete:
      if (!said.mac) {
        ++counters_.unasked;
      } else if (is_answer) {
        confirm(index, said, now, outbox);
      } else {
        believe_for_now(index, said, now, outbox);
      }
      return;
    case kUnknown:
    case kFailed:
    case kLearned:
      if (said.mac && said.claim != Claim::kAnnouncement &&
          !(is_answer && entry.state != kFailed)) {
        believe_for_now(index, said, now, outbox);
      } else {
        ++counters_.unasked;
      }
      return;
    case kProbe:
    case kReachable:
    case kStale:
      consider_confirmed(index, said, now, outbox);
      return;
    case kStatic:
      ++counters_.unasked;
      return;
  }
}

// The entry has a MAC that its owner confirmed once.
void Neighbours::consider_confirmed(NeighbourIndex index, const Said& said, Tick now,
                                    net::Outbox& outbox) {
  const NeighbourEntry& entry = table_.entry(index);
  const bool is_other_mac = said.mac && *said.mac != entry.mac;
  const bool is_asked = said.claim == Claim::kAnswer && entry.state == kProbe;
  const bool is_all_asked = entry.asked_count > 1;
  if (is_asked && (!is_other_mac || (said.overrides && is_all_asked))) {
    confirm(index, said, now, outbox);
  } else if (is_other_mac && said.overrides) {
    doubt(index, now, outbox);
  } else {
    ++counters_.unasked;
  }
}

// Only who asks for an address of ours, from an address of the port's network.
void Neighbours::learn(const Said& said, Tick now) {
  const auto contains = [&](const net::IpPrefix& own) { return own.contains(said.address); };
  if (said.claim != Claim::kQuestion ||
      std::ranges::none_of(interfaces_[said.port].addresses, contains)) {
    ++counters_.unasked;
    return;
  }
  if (!make_room(Room::kForLearned)) {
    ++counters_.ignored_full;
    return;
  }
  ROOST_ASSERT(said.mac.has_value());  // a question without one is not considered
  const NeighbourIndex index = table_.make(said.port, said.address, false, now);
  table_.entry(index).mac = *said.mac;
  table_.enter(index, kLearned, now);
  ++counters_.learned;
}

void Neighbours::confirm(NeighbourIndex index, const Said& said, Tick now, net::Outbox& outbox) {
  NeighbourEntry& entry = table_.entry(index);
  if (said.mac && entry.state == kProbe && entry.mac != *said.mac) ++counters_.mac_changes;
  if (said.mac) entry.mac = *said.mac;
  entry.asked_count = 0;
  table_.enter(index, kReachable, now);
  ++counters_.confirmed;
  release(index, outbox);
}

void Neighbours::believe_for_now(NeighbourIndex index, const Said& said, Tick now,
                                 net::Outbox& outbox) {
  ROOST_ASSERT(said.mac.has_value());
  table_.entry(index).mac = *said.mac;
  table_.enter(index, kLearned, now);
  release(index, outbox);
}

// Asks the owner that is known, unless it was asked just now.
void Neighbours::doubt(NeighbourIndex index, Tick now, net::Outbox& outbox) {
  NeighbourEntry& entry = table_.entry(index);
  if (entry.state == kProbe || now.count - entry.asked_at.count < config_.ticks.retransmit) {
    ++counters_.unasked;
    return;
  }
  ++counters_.doubted;
  entry.asked_count = 0;
  table_.enter(index, kProbe, now);
  ask(index, false, now, outbox);
}

}  // namespace roost::l3
