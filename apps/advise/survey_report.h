// A survey in words and as JSON.
#pragma once

#include <string>

#include "apps/advise/survey.h"
#include "roost/control/json.h"

namespace roost::advise {

[[nodiscard]] std::string format_survey(const Survey& survey);

// What `./dev plot` draws, among the rest: counts by second, packets of each, cuts by candidate.
[[nodiscard]] control::Json survey_json(const Survey& survey);

}  // namespace roost::advise
