// A packet's trace as lines for people: one a stage, in the order in which the packet met them.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "roost/net/drop_cause.h"
#include "roost/trace/packet_trace.h"

namespace roost::trace {

// What only the function can say.
struct TraceWords {
  std::string function;  // its name among people: "balancer"
  std::span<const net::DropCauseInfo> drop_causes;
  // Lines of what its tables said before and after, each after a newline: "\n  flow       none".
  std::function<std::string(const Note& before, const Note& after)> explanation;
};

// The last line is without its newline.
[[nodiscard]] std::string words_of(const PacketTrace& trace, const TraceWords& words);

}  // namespace roost::trace
