#include "apps/halo/break_even.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace roost::halo {

namespace {

constexpr uint64_t kFirstSize = 8;
constexpr uint64_t kStep = 4;
constexpr uint64_t kWarmUpOfEntry = 4;
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// Of all machines of one speed-up; by_size[s] is that of size s.
BreakEven break_even_of(std::span<const uint64_t> sizes, std::span<const SpeedUp* const> by_size) {
  BreakEven found{.way = by_size.front()->way, .over = by_size.front()->over};
  uint64_t least = kNever;
  uint64_t greatest = 0;
  for (size_t machine = 0; machine < by_size.front()->ratios.size(); ++machine) {
    std::vector<double> ratios;
    for (const SpeedUp* one : by_size) ratios.push_back(one->ratios[machine]);
    const EvenFrom from = even_from(sizes, ratios);
    if (machine == 0) found.middle = from;
    least = std::min(least, from.value_or(kNever));
    greatest = std::max(greatest, from.value_or(kNever));
  }
  if (least != kNever) found.least = least;
  if (greatest != kNever) found.greatest = greatest;
  return found;
}

}  // namespace

EvenFrom even_from(std::span<const uint64_t> sizes, std::span<const double> ratios) {
  EvenFrom from;
  for (size_t i = sizes.size(); i > 0 && ratios[i - 1] >= 1; --i) from = sizes[i - 1];
  return from;
}

std::vector<BreakEven> break_evens_of(std::span<const uint64_t> sizes,
                                      const std::vector<std::vector<SpeedUp>>& by_size) {
  std::vector<BreakEven> found;
  if (by_size.empty()) return found;
  for (size_t pair = 0; pair < by_size.front().size(); ++pair) {
    std::vector<const SpeedUp*> of_pair;
    for (const std::vector<SpeedUp>& speed_ups : by_size) of_pair.push_back(&speed_ups[pair]);
    found.push_back(break_even_of(sizes, of_pair));
  }
  return found;
}

std::vector<uint64_t> ladder_sizes(uint64_t entries_max) {
  std::vector<uint64_t> sizes;
  for (uint64_t size = kFirstSize; size <= entries_max; size *= kStep) sizes.push_back(size);
  return sizes;
}

Result<std::vector<Rung>> ladder_rungs(const std::vector<uint64_t>& sizes,
                                       const BuildOptions& build, const WayOptions& options) {
  std::vector<Rung> rungs;
  for (const uint64_t size : sizes) {
    Rung rung;
    rung.options = options;
    rung.options.warm_up = std::min(options.warm_up, kWarmUpOfEntry * size);
    InputOptions wanted{.build = build, .machines = options.threads};
    wanted.build.entries = size;
    wanted.keys = rung.options.warm_up + options.lookups;
    auto inputs = read_inputs(wanted);
    if (!inputs) return inputs.error();
    rung.inputs = std::move(inputs).value();
    rungs.push_back(std::move(rung));
  }
  return rungs;
}

Result<Ladder> climb(const sim::ParameterSweep& sweep, const std::vector<Rung>& rungs,
                     Ladder ladder) {
  std::vector<std::vector<SpeedUp>> by_size;
  for (const Rung& rung : rungs) {
    const auto ways = run_ways(sweep, rung.inputs.question(), rung.options);
    if (!ways) return ways.error();
    by_size.push_back(speed_ups_of(sweep, ways.value()));
  }
  ladder.found = break_evens_of(ladder.sizes, by_size);
  return ladder;
}

}  // namespace roost::halo
