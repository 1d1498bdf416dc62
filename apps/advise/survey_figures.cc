// What follows from the counts of a survey.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/advise/survey.h"

namespace roost::advise {
namespace {

// Running sums of differences.
std::vector<uint64_t> summed(const std::vector<int64_t>& differences) {
  std::vector<uint64_t> sums;
  sums.reserve(differences.size());
  int64_t sum = 0;
  for (const int64_t difference : differences)
    sums.push_back(static_cast<uint64_t>(sum += difference));
  return sums;
}

uint64_t peak_of(const std::vector<uint64_t>& counts) {
  return counts.empty() ? 0 : *std::ranges::max_element(counts);
}

double hold_seconds(double timeout, double tick_seconds) {
  return timeout + std::max(kSweepSeconds, tick_seconds);
}

}  // namespace

double Survey::largest_share() const {
  return packets_each.sum_of_greatest(0.01) / packets_each.sum_of_greatest(1);
}

Families Survey::families() const {
  if (ipv6_connections == 0) return Families::kIpv4;
  return ipv6_connections == connections ? Families::kIpv6 : Families::kBoth;
}

uint64_t Survey::cut_by(size_t timeout, size_t step) const {
  const auto& counts = exceeded[timeout];
  return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(step) + 1, counts.end(),
                         uint64_t{0});
}

std::vector<uint64_t> Survey::alive_by_second() const {
  std::vector<int64_t> differences(by_second.size() + 1);
  for (size_t second = 0; second < by_second.size(); ++second) {
    differences[second] += by_second[second].begun;
    for (const uint32_t over : by_second[second].over) differences[second + 1] -= over;
  }
  differences.pop_back();
  return summed(differences);
}

uint64_t Survey::held_peak(const TimeoutSeconds& timeouts, double tick_seconds) const {
  std::vector<int64_t> differences(by_second.size());
  double waiting = 0;  // at the mean rates
  for (size_t second = 0; second < by_second.size(); ++second)
    differences[second] += by_second[second].begun;
  for (size_t timeout = 0; timeout < kTimeoutCount; ++timeout) {
    const double hold = hold_seconds(timeouts[timeout], tick_seconds);
    uint64_t over = 0;
    for (size_t second = 0; second < by_second.size(); ++second) {
      over += by_second[second].over[timeout];
      const size_t gone = second + 1 + static_cast<size_t>(std::ceil(hold));
      if (gone < differences.size()) differences[gone] -= by_second[second].over[timeout];
    }
    waiting += static_cast<double>(over) / seconds() * hold;
  }
  const auto at_mean_rates = peak_of(alive_by_second()) + static_cast<uint64_t>(std::ceil(waiting));
  return std::max(peak_of(summed(differences)), at_mean_rates);
}

TimeoutSeconds advised_timeouts(const Survey& survey) {
  TimeoutSeconds timeouts = default_timeout_seconds();
  for (size_t timeout = 0; timeout < kTimeoutCount; ++timeout) {
    if (timeout == kTcpClosed || survey.under[timeout] == 0) continue;
    const double allowed = kCutShareMax * static_cast<double>(survey.under[timeout]);
    for (size_t step = 0; step < kLadderSeconds.size(); ++step) {
      if (kLadderSeconds[step] < kAdvisedSecondsMin) continue;
      if (kLadderSeconds[step] > survey.seconds() / 2) break;
      if (static_cast<double>(survey.cut_by(timeout, step)) > allowed) continue;
      timeouts[timeout] = kLadderSeconds[step];
      break;
    }
  }
  return timeouts;
}

Workload workload_of(const Survey& survey, const TimeoutSeconds& timeouts, double tick_seconds) {
  Workload workload;
  workload.connections = peak_of(survey.alive_by_second());
  for (const SecondCounts& second : survey.by_second) {
    workload.new_per_second = std::max(workload.new_per_second, static_cast<double>(second.begun));
    workload.packets_per_second =
        std::max(workload.packets_per_second, static_cast<double>(second.packets));
  }
  const auto connections = static_cast<double>(survey.connections);
  workload.families = survey.families();
  workload.udp_share = static_cast<double>(survey.udp_connections) / connections;
  workload.packets_each = static_cast<double>(survey.counted_packets()) / connections;
  workload.held = survey.held_peak(timeouts, tick_seconds);
  return workload;
}

}  // namespace roost::advise
