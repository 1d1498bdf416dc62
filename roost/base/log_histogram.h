// How often values of any size occurred, for quantiles of latencies: a class for each value up to
// 255, then 128 classes for each power of two, so that no class is wider than 1/128 of its values
// (the layout of HdrHistogram with two significant digits).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace roost {

// 37 KiB. Values from kValueMax on are counted as that; the greatest is kept as it is. One thread
// uses it.
class LogHistogram {
 public:
  static constexpr unsigned kValueBits = 42;  // an hour in nanoseconds
  static constexpr uint64_t kValueMax = (uint64_t{1} << kValueBits) - 1;

  // Constant time.
  void add(uint64_t value) {
    ++counts_[class_of(std::min(value, kValueMax))];
    ++total_;
    greatest_ = std::max(greatest_, value);
  }
  void clear() { *this = LogHistogram(); }
  LogHistogram& operator+=(const LogHistogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    greatest_ = std::max(greatest_, other.greatest_);
    return *this;
  }

  [[nodiscard]] uint64_t total() const { return total_; }
  [[nodiscard]] uint64_t greatest() const { return greatest_; }
  // A value that this share of the values, from 0 to 1, does not exceed: the greatest of its class.
  // 0 if there are none. Time linear in the classes.
  [[nodiscard]] uint64_t quantile(double share) const {
    if (total_ == 0) return 0;
    const auto wanted = std::max<uint64_t>(
        1, static_cast<uint64_t>(std::ceil(share * static_cast<double>(total_))));
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= wanted) return std::min(greatest_of_class(i), greatest_);
    }
    return greatest_;
  }
  // The sum of this share of the values, the greatest ones, each counted as the greatest of its
  // class: at most 1/128 too much. Time linear in the classes.
  [[nodiscard]] double sum_of_greatest(double share) const {
    auto left = static_cast<uint64_t>(std::ceil(share * static_cast<double>(total_)));
    double sum = 0;
    for (size_t i = counts_.size(); i > 0 && left > 0; --i) {
      const uint64_t taken = std::min(left, counts_[i - 1]);
      sum += static_cast<double>(taken) *
             static_cast<double>(std::min(greatest_of_class(i - 1), greatest_));
      left -= taken;
    }
    return sum;
  }

 private:
  static constexpr unsigned kBits = 7;  // a power of two has 2^kBits classes
  static constexpr size_t kHalf = size_t{1} << kBits;
  static constexpr size_t kClasses = (kValueBits - kBits + 1) * kHalf;

  [[nodiscard]] static constexpr unsigned shift_of(uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    return width <= kBits + 1 ? 0 : width - kBits - 1;
  }
  [[nodiscard]] static constexpr size_t class_of(uint64_t value) {
    const unsigned shift = shift_of(value);
    return shift * kHalf + static_cast<size_t>(value >> shift);
  }
  [[nodiscard]] static constexpr uint64_t greatest_of_class(size_t index) {
    if (index < 2 * kHalf) return index;
    const size_t shift = index / kHalf - 1;
    return ((index - shift * kHalf + 1) << shift) - 1;
  }

  std::array<uint64_t, kClasses> counts_{};
  uint64_t total_ = 0;
  uint64_t greatest_ = 0;
};

}  // namespace roost
