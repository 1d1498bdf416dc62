// How often something may happen: so many times in so many ticks, and a bounded number at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "roost/expiry/tick.h"

namespace roost {

// A token is what one event takes; the bucket holds a number of them and is filled with time.
class TokenBucket {
 public:
  struct Config {
    uint32_t tokens_max = 1;       // in the bucket, which begins full
    uint32_t tokens_per_step = 1;  // that are added
    uint32_t ticks_per_step = 1;
  };

  explicit TokenBucket(const Config& config) : config_(config), tokens_(config.tokens_max) {}

  // Takes a token; false when there is none. `now` must not run backwards.
  [[nodiscard]] bool take(Tick now) {
    if (now > filled_at_) {
      const uint64_t steps = (now.count - filled_at_.count) / config_.ticks_per_step;
      const uint64_t steps_used = std::min<uint64_t>(steps, config_.tokens_max);
      const uint64_t tokens = tokens_ + steps_used * config_.tokens_per_step;
      tokens_ = static_cast<uint32_t>(std::min<uint64_t>(tokens, config_.tokens_max));
      filled_at_.count += steps * config_.ticks_per_step;
    }
    if (tokens_ == 0) return false;
    --tokens_;
    return true;
  }

 private:
  Config config_;
  uint32_t tokens_;
  Tick filled_at_{};
};

}  // namespace roost
