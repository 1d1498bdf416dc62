#include "apps/halo/swept_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace roost::halo {

namespace {

using control::Json;

constexpr size_t kMovers = 3;

}  // namespace

std::span<const sim::Sensitivity> movers_of(const sim::SweptMeasure& measure) {
  return std::span(measure.sensitivities).first(std::min(kMovers, measure.sensitivities.size()));
}

std::string name_of(const sim::ParameterInfo& parameter) {
  return fmt::format("{}.{}", parameter.table, parameter.name);
}

Json interval_json(const sim::SweptMeasure& measure) {
  return {{"least", measure.least}, {"middle", measure.middle}, {"greatest", measure.greatest}};
}

Json movers_json(const sim::SweptMeasure& measure, const std::string& unit) {
  Json decided = Json::array();
  for (const sim::Sensitivity& mover : movers_of(measure)) {
    decided.push_back({{"parameter", name_of(*mover.parameter)},
                       {"low", mover.low},
                       {"high", mover.high},
                       {unit + "_at_low", mover.at_low},
                       {unit + "_at_high", mover.at_high}});
  }
  return decided;
}

}  // namespace roost::halo
