#include "lab/balance/moves.h"

#include <algorithm>
#include <numeric>

namespace roost::lab {

std::vector<uint32_t> weights_of(const Backends& backends) {
  std::vector<uint32_t> weights(backends.count());
  for (size_t i = 0; i < weights.size(); ++i) {
    if (backends.is_listed(i)) weights[i] = backends.weight(i);
  }
  return weights;
}

std::vector<size_t> places_of(const Chooser& chooser, std::span<const uint64_t> flow_hashes,
                              const Backends& backends) {
  std::vector<size_t> places;
  places.reserve(flow_hashes.size());
  for (const uint64_t flow_hash : flow_hashes) {
    const std::optional<size_t> picked = chooser.pick(flow_hash, {});
    places.push_back(picked ? backends.numbers()[*picked] : backends.count());
  }
  return places;
}

double max_over_mean(std::span<const size_t> places, const Backends& backends) {
  const std::vector<uint32_t> weights = weights_of(backends);
  const auto weight_sum =
      static_cast<double>(std::accumulate(weights.begin(), weights.end(), uint64_t{0}));
  std::vector<uint64_t> counts(weights.size() + 1);
  for (const size_t place : places) ++counts[place];
  double greatest = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const double mean = static_cast<double>(places.size()) * weights[i] / weight_sum;
    greatest = std::max(greatest, static_cast<double>(counts[i]) / mean);
  }
  return greatest;
}

Moved count_moves(std::span<const size_t> before, std::span<const size_t> after,
                  std::span<const uint32_t> weights, const Backends& backends) {
  const std::vector<uint32_t> weights_after = weights_of(backends);
  const auto sum_of = [](std::span<const uint32_t> all) {
    return static_cast<double>(std::accumulate(all.begin(), all.end(), uint64_t{0}));
  };
  const double sum_before = sum_of(weights);
  const double sum_after = sum_of(weights_after);
  Moved moved;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double lost = weights[i] / sum_before - weights_after[i] / sum_after;
    moved.least += std::max(lost, 0.0);
  }
  const double one = 1.0 / static_cast<double>(before.size());
  for (size_t flow = 0; flow < before.size(); ++flow) {
    const size_t from = before[flow];
    const size_t to = after[flow];
    if (from == to) continue;
    moved.all += one;
    const bool has_lost = weights_after[from] < weights[from];
    const bool has_gained = weights_after[to] > weights[to];
    if (!has_lost && !has_gained) moved.needlessly += one;
  }
  return moved;
}

}  // namespace roost::lab
