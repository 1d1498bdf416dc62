// Where the overflow scan stands, and the deadline of its pass (CPP-15, X-26).
//
// Slot timers wrap: an expired entry must be reclaimed before it seems live again. A scan visits
// the buckets in order, pass after pass, a few whenever the caller has time. A bucket's visits in
// two successive passes lie at most from the start of the first pass to the end of the second
// apart, so the deadline of a pass is the start of the one before it plus the longest gap allowed.
// As long as each pass ends in time, nothing comes back to life.
#pragma once

#include <cstdint>

#include "roost/expiry/slot_timers.h"
#include "roost/expiry/tick.h"
#include "roost/hash/hash64.h"

namespace roost {

// What FlowTable::advance did.
enum class AdvanceOutcome : uint8_t {
  kAdvanced,
  kScanOverdue,  // time moved, but past the scan's deadline: entries that expired long ago may
                 // seem live again
  kBackwards,    // the tick lies in the past; time stays
};

class OverflowScan {
 public:
  // The current pass must end at this tick or before.
  [[nodiscard]] Tick deadline() const {
    return Tick{previous_pass_start_.count + kScanGapTicksMax};
  }

  // Buckets visited in the current pass.
  [[nodiscard]] uint64_t position() const { return position_; }

  // The next bucket to visit.
  BucketIndex next(Tick now, uint64_t bucket_count) {
    if (position_ == 0) pass_start_ = now;
    const BucketIndex bucket{position_};
    if (++position_ == bucket_count) {
      position_ = 0;
      previous_pass_start_ = pass_start_;
    }
    return bucket;
  }

  // The table is empty: nothing can come back to life.
  void restart(Tick now) {
    position_ = 0;
    pass_start_ = now;
    previous_pass_start_ = now;
  }

 private:
  uint64_t position_ = 0;
  Tick pass_start_;
  Tick previous_pass_start_;
};

}  // namespace roost
