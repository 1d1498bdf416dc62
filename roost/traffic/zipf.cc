#include "roost/traffic/zipf.h"

#include <algorithm>
#include <cmath>

#include "roost/base/assert.h"

namespace roost::traffic {

Zipf::Zipf(uint64_t rank_count, double exponent)
    : rank_count_(static_cast<double>(rank_count)),
      exponent_(exponent),
      first_(integral(1.5) - 1),
      last_(integral(rank_count_ + 0.5)),
      sure_(2 - inverse_integral(integral(2.5) - hat(2))) {
  ROOST_ASSERT(rank_count > 0 && exponent >= 0);
}

uint64_t Zipf::rank(Draw& draw) const {
  while (true) {
    const double drawn = last_ + draw.unit() * (first_ - last_);
    const double x = inverse_integral(drawn);
    const double rank = std::clamp(std::floor(x + 0.5), 1.0, rank_count_);
    if (rank - x <= sure_ || drawn >= integral(rank + 0.5) - hat(rank))
      return static_cast<uint64_t>(rank);
  }
}

double Zipf::hat(double x) const { return std::exp(-exponent_ * std::log(x)); }

// Of the hat; at exponent 1 it is the logarithm, and near it expm1 keeps the digits.
double Zipf::integral(double x) const {
  const double log = std::log(x);
  const double t = (1 - exponent_) * log;
  return std::abs(t) > 1e-8 ? std::expm1(t) / t * log : log * (1 + t / 2);
}

double Zipf::inverse_integral(double y) const {
  const double t = std::max(y * (1 - exponent_), -1.0);
  return std::exp(std::abs(t) > 1e-8 ? std::log1p(t) / t * y : y * (1 - t / 2));
}

}  // namespace roost::traffic
