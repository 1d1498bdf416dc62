// The life of a record that threads share, in one word: whoever refreshes it and whoever ends it
// decide by one compare-exchange on it (X-88, CT-05).
//
//   63          40 39                 0
//  | generation   | due                |
//
// `due` is the first tick in which the record is over if it is not refreshed; 0 when it has been
// ended, or was never begun. The generation counts the connections that the record has had, so that
// a later one is not taken for an earlier one; it wraps after 16 million of them.
#pragma once

#include <cstdint>

#include "roost/base/assert.h"
#include "roost/expiry/tick.h"

namespace roost::lab {

class RecordLife {
 public:
  constexpr explicit RecordLife(uint64_t word) : word_(word) {}

  [[nodiscard]] constexpr uint64_t word() const { return word_; }
  [[nodiscard]] constexpr uint32_t generation() const {
    return static_cast<uint32_t>(word_ >> kDueBits);
  }

  [[nodiscard]] constexpr bool has_ended() const { return due() == 0; }
  [[nodiscard]] constexpr bool is_live(Tick now) const { return now.count < due(); }
  // Over, but not ended yet.
  [[nodiscard]] constexpr bool has_expired(Tick now) const { return !has_ended() && !is_live(now); }

  // The same connection, refreshed: live through the `timeout` ticks after this one.
  [[nodiscard]] constexpr RecordLife refreshed(Tick now, TickCount timeout) const {
    const uint64_t due = now.count + timeout + 1;
    ROOST_DEBUG_ASSERT(due <= kDueMask);
    return RecordLife((word_ & ~kDueMask) | due);
  }
  [[nodiscard]] constexpr RecordLife ended() const { return RecordLife(word_ & ~kDueMask); }
  // The record's next connection.
  [[nodiscard]] constexpr RecordLife next(Tick now, TickCount timeout) const {
    return RecordLife(word_ + (uint64_t{1} << kDueBits)).refreshed(now, timeout);
  }

  friend constexpr bool operator==(RecordLife, RecordLife) = default;

 private:
  static constexpr unsigned kDueBits = 40;  // 34 years of milliseconds
  static constexpr uint64_t kDueMask = (uint64_t{1} << kDueBits) - 1;

  [[nodiscard]] constexpr uint64_t due() const { return word_ & kDueMask; }

  uint64_t word_;
};

}  // namespace roost::lab
