// Ranks by Zipf's law: rank r, from 1 up, is drawn with a probability that falls as r^-exponent.
//
// Rejection-inversion (Hörmann and Derflinger, ACM TOMACS 1996): draws from the continuous hat
// whose inverse integral is known and rejects what lies above the steps. Constant time and memory
// whatever the number of ranks; fewer than 1.2 tries a rank.
#pragma once

#include <cstdint>

#include "roost/traffic/draw.h"

namespace roost::traffic {

class Zipf {
 public:
  // exponent >= 0; with 0 all ranks are alike.
  Zipf(uint64_t rank_count, double exponent);

  // From 1 to rank_count.
  [[nodiscard]] uint64_t rank(Draw& draw) const;

 private:
  [[nodiscard]] double hat(double x) const;
  [[nodiscard]] double integral(double x) const;
  [[nodiscard]] double inverse_integral(double y) const;

  double rank_count_;
  double exponent_;
  double first_;  // where the integral is drawn from, and to
  double last_;
  double sure_;  // a rank as close as this to the drawn point is accepted without a look
};

}  // namespace roost::traffic
