// The unit of table time. A tick is as long as the caller says; the library only counts.
#pragma once

#include <compare>
#include <cstdint>

namespace roost {

// A point in time: ticks since any fixed start. It never runs backwards.
struct Tick {
  uint64_t count = 0;

  friend auto operator<=>(Tick, Tick) = default;
};

// A span of time in ticks.
using TickCount = uint32_t;

}  // namespace roost
