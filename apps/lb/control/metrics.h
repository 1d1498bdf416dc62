// The balancer's numbers as metrics.
#pragma once

#include "apps/lb/control/control.h"
#include "roost/base/result.h"
#include "roost/control/metrics_endpoint.h"

namespace roost::lb {

// Of the control's sample, taken for each request. When the workers did not answer, one gauge says
// so and the others are absent.
[[nodiscard]] control::MetricFamilies metric_families(const Result<Control::Sample>& sample);

}  // namespace roost::lb
