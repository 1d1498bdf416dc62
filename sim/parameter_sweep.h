// An interval instead of a number: what a measure is over the numbers that nobody gives, and which
// of those decide it.
//
// The measure is taken with all numbers at their middle; with each open one, whose low and high
// differ, at both ends and the others in the middle; and with samples, in which each open number is
// low, middle or high by chance. The interval is from the least to the greatest of them all.
// Combinations that no machine can have are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/parameters.h"

namespace roost::sim {

// What a measure is at the ends of one number.
struct Sensitivity {
  const ParameterInfo* parameter;
  uint32_t low;  // the number
  uint32_t high;
  double at_low;  // the measure
  double at_high;
};

struct SweptMeasure {
  double middle = 0;
  double least = 0;
  double greatest = 0;
  // The one that moves it most first; none of a sweep without ends.
  std::vector<Sensitivity> sensitivities{};
};

// All machines of a sweep, the one of middle numbers first, then two for each open number, then the
// samples.
class ParameterSweep {
 public:
  // Equal seeds draw equal samples. Without ends: the machine of middle numbers, and samples. The
  // numbers of [hybrid] count as closed: they say when a program asks an accelerator, not how long
  // that takes.
  ParameterSweep(const MachineDescription& machine, size_t samples, uint64_t seed,
                 bool has_ends = true);

  [[nodiscard]] const std::vector<Parameters>& machines() const { return machines_; }
  [[nodiscard]] size_t open_count() const { return open_count_; }
  [[nodiscard]] size_t sample_count() const { return sample_count_; }
  // Of the measure of each machine, in their order.
  [[nodiscard]] SweptMeasure measure_of(const std::vector<double>& values) const;

 private:
  struct Open {
    const ParameterInfo* parameter;
    uint32_t low;
    uint32_t high;
    size_t at_low;  // machines; 0, the middle one: it cannot be
    size_t at_high;
  };

  size_t add(const Parameters& parameters);

  std::vector<Parameters> machines_;
  std::vector<Open> open_;
  size_t open_count_ = 0;
  size_t sample_count_ = 0;
};

}  // namespace roost::sim
