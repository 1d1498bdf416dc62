// A rule, and what a packet gets: the action of the rule that wins.
#pragma once

#include <cstdint>

#include "roost/classify/packet_fields.h"

namespace roost::classify {

// Matches the packets that agree with `value` in the bits of `mask`. Of those that match, the one
// of the highest priority wins, as in OpenFlow; of equal priority, which OpenFlow leaves open, the
// one that was added first.
struct Rule {
  PacketFields mask{};
  PacketFields value{};  // zero outside the mask
  uint16_t priority = 0;
  uint32_t action = 0;  // the caller's; this room gives it no meaning

  [[nodiscard]] bool matches(const PacketFields& packet) const {
    return agree(packet, value, mask);
  }
};

// Where a rule stands, below the number of rules ever held at a time.
using RuleIndex = uint32_t;
inline constexpr RuleIndex kNoRule = UINT32_MAX;

// Names a rule for ever: the index is used again, the generation is not.
struct RuleId {
  RuleIndex index = kNoRule;
  uint32_t generation = 0;

  bool operator==(const RuleId&) const = default;
};

// What a packet gets. Without a rule, the action is the classifier's for that.
struct Answer {
  RuleIndex rule = kNoRule;
  uint32_t action = 0;

  bool operator==(const Answer&) const = default;
};

}  // namespace roost::classify
