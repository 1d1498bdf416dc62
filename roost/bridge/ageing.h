// How old learned entries are, in sixteenths of the ageing time.
//
// Time is cut into sixteenths, and an entry says in which it was seen last, modulo 32. After 16 it
// is unknown: between 15/16 and all of the ageing time after its station's last frame. From there
// on it is to be reclaimed, before its number comes again; the two largest differences are those of
// entries that another worker, whose clock is a moment ahead, has just seen.
#pragma once

#include <cstdint>

#include "roost/bridge/fdb_entry.h"
#include "roost/expiry/tick.h"

namespace roost::bridge {

// The second that a time is in.
[[nodiscard]] inline uint64_t second_of(Tick now, double tick_seconds) {
  return static_cast<uint64_t>(static_cast<double>(now.count) * tick_seconds);
}

class Ageing {
 public:
  static constexpr uint32_t kSixteenths = 16;

  // `ageing_ticks`: the ageing time, at least 1.
  explicit Ageing(uint64_t ageing_ticks) : ticks_(ageing_ticks) {}

  // The number of the sixteenth that `now` is in.
  [[nodiscard]] uint64_t sixteenth(Tick now) const { return now.count * kSixteenths / ticks_; }

  // Whether an entry counts as unknown in a sixteenth.
  [[nodiscard]] static bool is_unknown(FdbValue value, uint64_t sixteenth) {
    const uint32_t difference = since(value, sixteenth);
    return !value.is_static() && difference >= kSixteenths && difference < kAheadMin;
  }
  // Whether an entry is to be told that it was seen in a sixteenth.
  [[nodiscard]] static bool is_stale(FdbValue value, uint64_t sixteenth) {
    const uint32_t difference = since(value, sixteenth);
    return !value.is_static() && difference != 0 && difference < kAheadMin;
  }

  // How many sixteenths ago an entry's station was seen, of a learned one that is not reclaimed too
  // late.
  [[nodiscard]] static uint32_t sixteenths_since_seen(FdbValue value, uint64_t sixteenth) {
    const uint32_t difference = since(value, sixteenth);
    return difference < kAheadMin ? difference : 0;
  }

  // How long ago an entry's station was seen, of a learned one that is known.
  [[nodiscard]] uint64_t ticks_since_seen(FdbValue value, uint64_t sixteenth) const {
    return sixteenths_since_seen(value, sixteenth) * ticks_ / kSixteenths;
  }

 private:
  static constexpr uint32_t kAheadMin = 30;

  [[nodiscard]] static uint32_t since(FdbValue value, uint64_t sixteenth) {
    return static_cast<uint32_t>(sixteenth - value.age()) & FdbValue::kAgeMask;
  }

  uint64_t ticks_;
};

}  // namespace roost::bridge
