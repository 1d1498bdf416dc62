#include "apps/advise/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "apps/advise/cost_points.h"
#include "apps/advise/nat_points.h"

namespace roost::advise {
namespace {

// Points of one number of packets, those with fewer connections first.
std::span<const CostPoint> column_of(double packets_each) {
  const auto [first, last] = std::ranges::equal_range(
      kCostPoints, -packets_each, {}, [](const CostPoint& point) { return -point.packets_each; });
  return {first, last};
}

// What a weighted mean of points is made of.
struct Interpolation {
  double state_ns = 0;
  double parsing_ns = 0;
  std::set<std::string_view> jobs{};
  bool is_outside = false;

  void add(const CostPoint& point, double weight) {
    if (weight == 0) return;
    state_ns += weight * point.state_ns;
    parsing_ns += weight * point.parsing_ns;
    jobs.insert(point.job);
  }
};

// Adds what stands at this number of connections.
void add_column(std::span<const CostPoint> column, double live, double weight, Interpolation& sum) {
  if (live <= column.front().live || live >= column.back().live) {
    sum.is_outside |= live < column.front().live || live > column.back().live;
    sum.add(live <= column.front().live ? column.front() : column.back(), weight);
    return;
  }
  const auto above = std::ranges::upper_bound(column, live, {}, &CostPoint::live);
  const CostPoint& right = *above;
  const CostPoint& left = *std::prev(above);
  const double share = std::log(live / left.live) / std::log(right.live / left.live);
  sum.add(left, weight * (1 - share));
  sum.add(right, weight * share);
}

// Of mode `l2dsr`.
Interpolation interpolate(double live, double packets_each) {
  const double most = kCostPoints.front().packets_each;
  const double fewest = kCostPoints.back().packets_each;
  Interpolation sum;
  sum.is_outside = packets_each > most || packets_each < fewest;
  const double packets = std::clamp(packets_each, fewest, most);
  // The columns with as many packets or more, and with as many or fewer.
  double more = most;
  double fewer = fewest;
  for (const CostPoint& point : kCostPoints) {
    if (point.packets_each >= packets) more = point.packets_each;
    if (point.packets_each <= packets) fewer = std::max(fewer, point.packets_each);
  }
  const double share = more == fewer ? 0 : (1 / packets - 1 / more) / (1 / fewer - 1 / more);
  if (share < 1) add_column(column_of(more), live, 1 - share, sum);
  if (share > 0) add_column(column_of(fewer), live, share, sum);
  return sum;
}

std::string range_text(double live, double packets_each) {
  const auto [least, greatest] = std::ranges::minmax(kCostPoints, {}, &CostPoint::live);
  return fmt::format(
      "{:.0f} live connections of {:.1f} packets each in a worker are outside what was measured "
      "({:.0f} to {:.0f} of {:g} to {:g} packets, and fewer connections of many packets): the "
      "figure "
      "is the nearest point's",
      live, packets_each, least.live, greatest.live, kCostPoints.back().packets_each,
      kCostPoints.front().packets_each);
}

}  // namespace

Result<Cost> expected_cost(const Workload& workload, uint64_t held_of_worker) {
  if (workload.families != Families::kIpv4)
    return Error{"no record has what a packet of IPv6 costs"};
  const bool is_nat = workload.mode == lb::Mode::kNat;
  if (!is_nat && workload.mode != lb::Mode::kL2dsr)
    return Error{fmt::format("no record has what a packet costs in mode \"{}\"",
                             lb::mode_name(workload.mode))};
  const double live = static_cast<double>(held_of_worker);
  const double packets_each = workload.packets_of_each();
  const Interpolation found = interpolate(live, packets_each);
  Cost cost{.parsing_ns = found.parsing_ns, .state_ns = found.state_ns, .ports_ns = kPortsNs};
  for (const std::string_view job : found.jobs)
    cost.records.push_back(fmt::format("{}: {}", kCostRecord, job));
  if (is_nat) {
    cost.state_ns *=
        kNatPoint.state_ns / interpolate(kNatPoint.live, kNatPoint.packets_each).state_ns;
    cost.records.push_back(fmt::format("{}: {}", kNatRecord, kNatPoint.job));
  }
  cost.records.push_back(fmt::format("{}: {}", kNatRecord, kPortsJob));
  if (found.is_outside) cost.outside = range_text(live, packets_each);
  return cost;
}

}  // namespace roost::advise
