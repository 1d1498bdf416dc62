// What a packet costs by live connections and packets of each: made by `./dev lab readme` from the
// record that apps/advise/README.md names beside these figures, and checked against it.
#pragma once

#include <array>
#include <string_view>

namespace roost::advise {

struct CostPoint {
  double live = 0;          // connections
  double packets_each = 0;  // of a connection
  double parsing_ns = 0;
  double state_ns = 0;  // beyond parsing
  std::string_view job{};
};

inline constexpr std::string_view kCostRecord =
    "lab/record/2021-conntrack-20261126T1951Z-238b01001b.csv";

// Those of many packets first; of as many, those of few connections.
inline constexpr std::array kCostPoints = {
    CostPoint{9922, 80, 13.1, 55.4, "axis_size 14285 campus-like x1 l2dsr mean=80"},
    CostPoint{89614, 80, 13.4, 61.6, "axis_size 142857 campus-like x1 l2dsr mean=80"},
    CostPoint{805605, 80, 12.6, 72.2, "axis_size 1428571 campus-like x1 l2dsr mean=80"},
    CostPoint{9574, 20, 13.5, 74.8, "axis_size 14285 campus-like x1 l2dsr mean=20"},
    CostPoint{95092, 20, 13.0, 79.5, "axis_size 142857 campus-like x1 l2dsr mean=20"},
    CostPoint{809185, 20, 12.8, 97.7, "axis_size 1428571 campus-like x1 l2dsr mean=20"},
    CostPoint{3096280, 20, 12.8, 114.1, "axis_size 5714285 campus-like x1 l2dsr mean=20"},
    CostPoint{7337, 4, 13.5, 133.8, "axis_size 14285 campus-like x1 l2dsr mean=4"},
    CostPoint{72366, 4, 12.3, 135.5, "axis_size 142857 campus-like x1 l2dsr mean=4"},
    CostPoint{670749, 4, 12.5, 175.1, "axis_size 1428571 campus-like x1 l2dsr mean=4"},
    CostPoint{2488530, 4, 12.8, 188.6, "axis_size 5714285 campus-like x1 l2dsr mean=4"},
    CostPoint{9906980, 4, 12.6, 244.5, "axis_size 22857142 campus-like x1 l2dsr mean=4"}};

}  // namespace roost::advise
