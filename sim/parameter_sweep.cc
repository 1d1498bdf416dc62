#include "sim/parameter_sweep.h"

#include <algorithm>
#include <cmath>

#include "roost/base/assert.h"
#include "roost/traffic/draw.h"

namespace roost::sim {

ParameterSweep::ParameterSweep(const MachineDescription& machine, size_t samples, uint64_t seed,
                               bool has_ends) {
  const Parameters middle = machine.at(Level::kMiddle);
  machines_.push_back(middle);
  const auto infos = parameter_infos();
  std::vector<size_t> open;
  for (size_t i = 0; i < infos.size(); ++i) {
    const auto& [low, unused, high] = machine.ranges[i].values;
    if (low == high || infos[i].table == "hybrid") continue;
    open.push_back(i);
    if (!has_ends) continue;
    const auto with = [&](uint32_t value) {
      Parameters parameters = middle;
      parameters.*infos[i].value = value;
      return add(parameters);
    };
    const size_t at_low = with(low);
    open_.push_back({&infos[i], low, high, at_low, with(high)});
  }
  open_count_ = open.size();
  traffic::Draw draw(seed);
  constexpr size_t kTriesOfSample = 100;
  for (size_t left = samples * kTriesOfSample; sample_count_ < samples && left > 0; --left) {
    Parameters parameters = middle;
    for (const size_t i : open)
      parameters.*infos[i].value = machine.ranges[i].values[draw.below(3)];
    if (add(parameters) != 0) ++sample_count_;
  }
}

// The machine's number; 0 if there can be none.
size_t ParameterSweep::add(const Parameters& parameters) {
  if (!geometry_faults(parameters).empty()) return 0;
  machines_.push_back(parameters);
  return machines_.size() - 1;
}

SweptMeasure ParameterSweep::measure_of(const std::vector<double>& values) const {
  ROOST_ASSERT(values.size() == machines_.size());
  const auto [least, greatest] = std::ranges::minmax(values);
  SweptMeasure measure{.middle = values[0], .least = least, .greatest = greatest};
  for (const Open& open : open_) {
    measure.sensitivities.push_back(
        {open.parameter, open.low, open.high, values[open.at_low], values[open.at_high]});
  }
  std::ranges::stable_sort(
      measure.sensitivities, std::ranges::greater{},
      [](const Sensitivity& one) { return std::abs(one.at_high - one.at_low); });
  return measure;
}

}  // namespace roost::sim
