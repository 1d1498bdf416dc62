// The connections of a batch of a NAT's packets, found together before the packets are decided one
// by one in their order: a packet finds the connection that one before it has begun.
//
//   from inside    its key                                     -> connection
//   from outside   external end -> mapping -> key with its inside end -> connection
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/conntrack/asked_lanes.h"
#include "roost/conntrack/mapped_ends.h"
#include "roost/net/packet_batch.h"

namespace roost::conntrack {

// The key of a packet from outside as the connection's inside end would send.
[[nodiscard]] inline net::FlowKey4 outwards_of(const net::Endpoint4& inside,
                                               const net::FlowKey4& inwards) {
  return {inside.address, inwards.source, inside.port, inwards.source_port, inwards.protocol, {}};
}

// `Connections`: a ConnectionTable of MappedEnds. One worker's.
template <class Connections>
class MappedLanes {
 public:
  using Key = net::FlowKey4;
  using Match = typename Connections::Match;

  // Both must outlive it and stay where they are.
  MappedLanes(Connections& connections, const Held& held) : connections_(connections), held_(held) {
    forget();
  }

  // Before the packets of a batch.
  void clear() {
    asked_.count = 0;
    inwards_count_ = 0;
    forget();
  }
  // Asks for the memory of what find() will probably be asked for: of a packet from inside, and of
  // one to an external end of this worker's.
  void ask_outwards(size_t lane, const Key& key) { asked_.push(lane, key, connections_); }
  void ask_inwards(size_t lane, const Key& key, BoundPort bound) {
    held_.mappings.ask_for(key.protocol, bound);
    inwards_[inwards_count_++] = {static_cast<uint8_t>(lane), bound, key};
  }
  // Looks up all that was asked for.
  void find_all() {
    for (const Inwards& one : std::span(inwards_).first(inwards_count_)) {
      const auto inside = held_.mappings.inside_of(one.key.protocol, one.bound);
      if (inside) ask_outwards(one.lane, outwards_of(*inside, one.key));
    }
    connections_.find(asked_.to_find(), matches_);
    for (size_t place = 0; place < asked_.count; ++place)
      places_[asked_.lanes[place]] = static_cast<uint8_t>(place);
  }
  // A connection begins: what was found before is no longer valid.
  void forget() { places_.fill(kNone); }
  // As ConnectionTable::find() now. Found anew if it is another key, or after forget(); most of its
  // memory is near then.
  [[nodiscard]] Match find(size_t lane, const Key& key) {
    const uint8_t place = places_[lane];
    if (place != kNone && asked_.keys[place] == key) return matches_[place];
    return connections_.find(key);
  }

 private:
  static constexpr uint8_t kNone = UINT8_MAX;

  struct Inwards {
    uint8_t lane = 0;
    BoundPort bound{};
    Key key{};
  };

  Connections& connections_;
  const Held& held_;
  AskedLanes<net::Ipv4Address> asked_;
  std::array<Inwards, net::kBatchLanesMax> inwards_;
  size_t inwards_count_ = 0;
  std::array<Match, net::kBatchLanesMax> matches_;   // by place in asked_
  std::array<uint8_t, net::kBatchLanesMax> places_;  // by lane
};

}  // namespace roost::conntrack
