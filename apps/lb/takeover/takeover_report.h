// What a report says of how the run got its connections.
#pragma once

#include <array>
#include <cstdint>

#include "roost/base/counter.h"

namespace roost::lb {

// How a run got its connections, and how long no packet was decided meanwhile.
struct TakeoverReport {
  uint64_t takeovers = 0;  // 1, or 0 if it began anew
  uint64_t pause_microseconds = 0;
};
inline constexpr std::array kTakeoverCounters = {
    Counter{"takeovers", &TakeoverReport::takeovers,
            "1 if the connections of another process were adopted"},
    Counter{"pause_microseconds", &TakeoverReport::pause_microseconds,
            "how long no packet was decided meanwhile; 0 if the other process had ended before"}};
static_assert(lists_all(kTakeoverCounters));

}  // namespace roost::lb
