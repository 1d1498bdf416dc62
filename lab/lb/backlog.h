// Emulated: what a ring of received packets would have lost, had packets come at an even rate while
// a worker was busy as long as it was.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace roost::lab {

class Backlog {
 public:
  static constexpr double kRingPackets = 1'024;

  Backlog() = default;
  explicit Backlog(double packets_per_nanosecond) : rate_(packets_per_nanosecond) {}

  // A batch of so many packets took so long.
  void add(std::chrono::nanoseconds took, size_t packets) {
    const double arrived = rate_ * static_cast<double>(took.count());
    arrived_ += arrived;
    waiting_ = std::max(0.0, waiting_ + arrived - static_cast<double>(packets));
    lost_ += std::max(0.0, waiting_ - kRingPackets);
    waiting_ = std::min(waiting_, kRingPackets);
  }
  // Of those that came.
  [[nodiscard]] double lost_share() const { return arrived_ > 0 ? lost_ / arrived_ : 0; }

 private:
  double rate_ = 0;
  double arrived_ = 0;
  double waiting_ = 0;
  double lost_ = 0;
};

}  // namespace roost::lab
