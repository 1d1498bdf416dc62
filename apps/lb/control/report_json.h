// The report as a JSON value, for those who add to it.
#pragma once

#include <nlohmann/json.hpp>

#include "apps/lb/control/report.h"

namespace roost::lb {

// `packets`, `flows`, `drops`, `services`, `ports`, `captures`, `run` and `tables`, as README.md
// lists them.
[[nodiscard]] nlohmann::ordered_json report_json(const Report& report);
[[nodiscard]] nlohmann::ordered_json services_json(const Report& report);
// By the names of the stages.
[[nodiscard]] nlohmann::ordered_json cycles_json(const node::StageCycles& cycles);

}  // namespace roost::lb
