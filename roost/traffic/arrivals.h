// When flows begin: at a mean rate, independently of each other, at even distances, or many at
// once.
#pragma once

#include <cmath>
#include <cstdint>

#include "roost/base/assert.h"
#include "roost/traffic/draw.h"

namespace roost::traffic {

enum class ArrivalLaw : uint8_t {
  kPoisson,  // distances are exponential
  kPaced,    // distances are the same
  kBursts,   // `burst` at a time, and these by Poisson's law
};

class Arrivals {
 public:
  struct Config {
    ArrivalLaw law = ArrivalLaw::kPoisson;
    double per_second = 1;
    uint32_t burst = 32;  // of kBursts
  };

  explicit Arrivals(const Config& config) : config_(config) {
    ROOST_ASSERT(config.per_second > 0 && config.burst > 0);
  }

  // Seconds from the last arrival to the next one; of a burst, zero to all but its first.
  [[nodiscard]] double seconds_to_next(Draw& draw) {
    const double mean = 1 / config_.per_second;
    switch (config_.law) {
      case ArrivalLaw::kPoisson:
        return exponential(draw, mean);
      case ArrivalLaw::kPaced:
        return mean;
      case ArrivalLaw::kBursts:
        break;
    }
    if (left_ > 0) {
      --left_;
      return 0;
    }
    left_ = config_.burst - 1;
    return exponential(draw, mean * config_.burst);
  }

  // Exponentially distributed. 1 - unit() is exact, so log1p would say the same, in twice the time.
  [[nodiscard]] static double exponential(Draw& draw, double mean) {
    return -std::log(1 - draw.unit()) * mean;
  }

 private:
  Config config_;
  uint32_t left_ = 0;  // of the burst
};

}  // namespace roost::traffic
