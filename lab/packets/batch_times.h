// How long batches took.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "lab/jobs/job.h"
#include "lab/jobs/record_row.h"

namespace roost::lab {

// A class for each nanosecond up to a millisecond; what takes longer is in the last one.
class BatchTimes {
 public:
  using Clock = std::chrono::steady_clock;

  void add(Clock::duration duration) {
    const auto nanoseconds = static_cast<uint64_t>(duration.count());
    ++counts_[std::min<uint64_t>(nanoseconds, counts_.size() - 1)];
    ++total_;
    greatest_ = std::max(greatest_, duration);
  }
  [[nodiscard]] uint64_t total() const { return total_; }
  [[nodiscard]] Clock::duration greatest() const { return greatest_; }
  // The time that a share of the batches does not exceed.
  [[nodiscard]] double quantile(double share) const {
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(total_));
    uint64_t seen = 0;
    size_t nanoseconds = 0;
    while (nanoseconds + 1 < counts_.size() && (seen += counts_[nanoseconds]) <= wanted)
      ++nanoseconds;
    return static_cast<double>(nanoseconds);
  }
  // How many took longer; `bound` is less than a millisecond.
  [[nodiscard]] uint64_t count_above(std::chrono::nanoseconds bound) const {
    return std::accumulate(counts_.begin() + bound.count() + 1, counts_.end(), uint64_t{0});
  }

 private:
  std::vector<uint64_t> counts_ = std::vector<uint64_t>(1'000'000);
  uint64_t total_ = 0;
  Clock::duration greatest_{};
};

// Adds a row like this one for each quantile that records have.
inline void add_quantiles(const RecordRow& like, const BatchTimes& times, Rows& rows) {
  for (const auto& [metric, share] :
       {std::pair("batch_ns_p50", 0.5), std::pair("batch_ns_p99", 0.99),
        std::pair("batch_ns_p999", 0.999)}) {
    rows.push_back(like);
    rows.back().metric = metric;
    rows.back().value = times.quantile(share);
  }
}

}  // namespace roost::lab
