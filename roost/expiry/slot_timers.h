// Expiry inside a bucket: one 16-bit timer a slot, and no timer structure beside the table (CPP-12
// … CPP-15).
//
// A timer holds the low 16 bits of the tick at which its entry expires. It is live while
//
//     uint16(timer - now) < 1,024
//
// so an entry may expire at most 1,023 ticks ahead (1,024 would be expired on arrival, X-24), and
// one given n ticks lives at least n and less than n + 1 of them, since `now` may be anywhere
// within its tick.
//
// 16 bits wrap. Worked example: an entry that expires at tick 100 is live up to and including tick
// 100, expired from 101 to 64,612, and would be live again at 64,613, where 100 - 64,613 = 1,023
// modulo 65,536. It must be found and dropped before that: between two visits of a bucket at most
// 64,512 ticks may pass.
#pragma once

#include <algorithm>
#include <cstdint>

#include "roost/expiry/tick.h"
#include "roost/isa/kernel.h"

namespace roost {

// The longest time ahead at which an entry may expire.
inline constexpr TickCount kTimeoutTicksMax = kLiveTicks - 1;

// The longest time between two visits of the same bucket by the overflow scan.
inline constexpr uint64_t kScanGapTicksMax = 65'536 - kLiveTicks;

// Policy: entries live until they are erased.
struct NoExpiry {
  static constexpr bool kEnabled = false;

  [[nodiscard]] static constexpr TickCount ticks_left(uint16_t /*timer*/, Tick /*now*/) {
    return kTimeoutTicksMax;
  }
  [[nodiscard]] static constexpr bool is_live(uint16_t /*timer*/, Tick /*now*/) { return true; }
};

// Policy: each entry has a timer.
struct SlotTimers {
  static constexpr bool kEnabled = true;

  // The timer of an entry that expires `timeout` ticks after `now`; longer timeouts become
  // kTimeoutTicksMax.
  [[nodiscard]] static constexpr uint16_t timer(Tick now, TickCount timeout) {
    return static_cast<uint16_t>(now.count + std::min(timeout, kTimeoutTicksMax));
  }
  [[nodiscard]] static constexpr bool is_live(uint16_t timer, Tick now) {
    return static_cast<uint16_t>(timer - now.count) < kLiveTicks;
  }
  // Another timer of an expired entry, which is not live now nor for whoever's time is a little
  // behind or ahead.
  [[nodiscard]] static constexpr uint16_t never_live(uint16_t timer, Tick now) {
    const auto far = static_cast<uint16_t>(now.count + 0x8000);
    return far == timer ? static_cast<uint16_t>(far + 1) : far;
  }
  // What is left of the life of an entry that is live.
  [[nodiscard]] static constexpr TickCount ticks_left(uint16_t timer, Tick now) {
    return static_cast<uint16_t>(timer - now.count);
  }
};

}  // namespace roost
