// What a packet costs in mode `nat` at one point, and at ports: made by `./dev lab readme` from the
// record that apps/advise/README.md names beside these figures, and checked against it.
#pragma once

#include <string_view>

#include "apps/advise/cost_points.h"

namespace roost::advise {

inline constexpr std::string_view kNatRecord = "lab/record/lb-20261126T1942Z-69154c07a9.csv";
inline constexpr CostPoint kNatPoint = {3115470, 20, 12.7, 208.1,
                                        "churn 4200000 campus-like x1 nat mean=20"};
inline constexpr double kPortsNs = 49.4;
inline constexpr std::string_view kPortsJob = "packets packets 4194304 x1 raw_io";

}  // namespace roost::advise
