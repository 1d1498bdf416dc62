// An advice in words, as JSON, and as a configuration of `roost lb`.
#pragma once

#include <string>

#include "apps/advise/advice.h"
#include "apps/advise/survey.h"

namespace roost::advise {

// `survey`: of the capture that it is for, if there is one.
[[nodiscard]] std::string format_text(const Advice& advice, const Survey* survey = nullptr);
[[nodiscard]] std::string format_json(const Advice& advice, const Survey* survey = nullptr);

// A configuration that `roost lb --check` accepts: sizes, timeouts and workers are the advice's;
// services, backends and addresses are examples for the operator to replace.
[[nodiscard]] std::string format_toml(const Advice& advice);

}  // namespace roost::advise
