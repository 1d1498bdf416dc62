// An advice in words, as JSON, and as a configuration of `roost lb`.
#pragma once

#include <string>

#include "apps/advise/advice.h"
#include "apps/advise/measure.h"
#include "apps/advise/survey.h"

namespace roost::advise {

// What else was found out for it, if it was.
struct Findings {
  const Survey* survey = nullptr;
  const Measurement* measurement = nullptr;
};

[[nodiscard]] std::string format_text(const Advice& advice, const Findings& findings = {});
[[nodiscard]] std::string format_json(const Advice& advice, const Findings& findings = {});

// A configuration that `roost lb --check` accepts: sizes, timeouts and workers are the advice's;
// services, backends and addresses are examples for the operator to replace.
[[nodiscard]] std::string format_toml(const Advice& advice);

}  // namespace roost::advise
