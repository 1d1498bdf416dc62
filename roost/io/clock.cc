#include "roost/io/clock.h"

#include <rte_cycles.h>

#include <algorithm>

#include "roost/base/assert.h"

namespace roost::io {

uint64_t read_cycles() { return rte_rdtsc(); }

uint64_t cycles_per_second() { return rte_get_tsc_hz(); }

TickClock::TickClock(double tick_seconds)
    : start_cycles_(read_cycles()),
      tick_cycles_(std::max(
          uint64_t{1},
          static_cast<uint64_t>(static_cast<double>(cycles_per_second()) * tick_seconds))) {
  ROOST_ASSERT(tick_seconds > 0);
}

SecondsTimer::SecondsTimer() : next_cycles_(read_cycles() + cycles_per_second()) {}

bool SecondsTimer::has_passed() {
  const uint64_t now = read_cycles();
  if (now < next_cycles_) return false;
  next_cycles_ = now + cycles_per_second();
  return true;
}

}  // namespace roost::io
