// Which rate to try next: by halves, between the greatest that passed and the least that failed
// (RFC 2544, 26.1), until they are a hundredth apart.
#pragma once

#include <cstddef>

namespace roost::trafficgen {

class RateSearch {
 public:
  static constexpr double kPrecision = 0.01;
  static constexpr size_t kTrialsMax = 24;

  // The greatest rate is the first one that is tried.
  explicit RateSearch(double greatest) : failed_(greatest), next_(greatest) {}

  [[nodiscard]] double next() const { return next_; }
  void note(bool passes) {
    ++trials_;
    if (passes && next_ >= failed_) {
      passed_ = failed_;  // the greatest one
      return;
    }
    (passes ? passed_ : failed_) = next_;
    next_ = (passed_ + failed_) / 2;
  }
  [[nodiscard]] bool is_over() const {
    return trials_ == kTrialsMax || (trials_ > 0 && failed_ - passed_ <= kPrecision * failed_);
  }

 private:
  double passed_ = 0;
  double failed_;
  double next_;
  size_t trials_ = 0;
};

}  // namespace roost::trafficgen
