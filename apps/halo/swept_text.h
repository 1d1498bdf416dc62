// A measure over many machines, as reports write it.
#pragma once

#include <span>
#include <string>

#include "roost/control/json.h"
#include "sim/parameter_sweep.h"

namespace roost::halo {

// Numbers that are named as those that decide: at most three.
[[nodiscard]] std::span<const sim::Sensitivity> movers_of(const sim::SweptMeasure& measure);
[[nodiscard]] std::string name_of(const sim::ParameterInfo& parameter);

[[nodiscard]] control::Json interval_json(const sim::SweptMeasure& measure);
// `unit` says of what the ends are.
[[nodiscard]] control::Json movers_json(const sim::SweptMeasure& measure, const std::string& unit);

}  // namespace roost::halo
