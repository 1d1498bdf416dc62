#include "roost/control/run_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace roost::control {

NeighbourReport& NeighbourReport::operator+=(const NeighbourReport& other) {
  add_counters<l3::NeighbourCounters>(l3::kNeighbourCounters, other.counters, counters);
  for (size_t state = 0; state < count_by_state.size(); ++state) {
    count_by_state[state] += other.count_by_state[state];
  }
  add_counters<NeighbourReport>(kNeighbourReportCounters, other, *this);
  add_counters<l3::ListenerCounters>(l3::kListenerCounters, other.listener, listener);
  return *this;
}

NeighbourReport report_neighbours(const l3::NextHops& next_hops) {
  const l3::Neighbours& neighbours = next_hops.neighbours();
  NeighbourReport report{.counters = neighbours.counters(),
                         .waiting = neighbours.waiting_count(),
                         .listener = next_hops.listener().counters()};
  std::ranges::copy(neighbours.table().counts_by_state(), report.count_by_state.begin());
  return report;
}

void add_up_ports(RunReport& report) {
  static_cast<io::PortCounters&>(report) = node::add_up_ports(report.run);
}

void SumCheck::expect_equal(uint64_t left, uint64_t right, std::string_view sentence) {
  if (left != right) broken_.push_back(fmt::format("{}: {} is not {}", sentence, left, right));
}

void SumCheck::expect(bool holds, std::string_view sentence) {
  if (!holds) broken_.emplace_back(sentence);
}

void SumCheck::check_run(const RunReport& report, std::span<const net::DropCauseInfo> causes) {
  expect_equal(
      report.received + report.run.originated + report.run.replicated,
      report.sent + report.run.drops.sum() + report.run.consumed,
      "packets received + originated + replicated = packets sent + drops by cause + consumed does "
      "not hold");
  const l3::NeighbourCounters& neighbours = report.neighbours.counters;
  expect_equal(neighbours.waited,
               neighbours.released +
                   sum_of<l3::NeighbourCounters>(l3::kNeighbourLosses, neighbours) +
                   report.neighbours.waiting,
               "packets that waited for a neighbour = released + lost + waiting does not hold");
  uint64_t listed = 0;
  for (const net::DropCauseInfo& info : causes) listed += report.run.drops[info.cause];
  expect_equal(listed, report.run.drops.sum(),
               "every drop must have a cause of the list, and some had not");
  expect_equal(report.run.drops[net::DropCause::kUndecided], 0,
               "every packet must be decided, and some were not");
  uint64_t handoff_out = 0;
  uint64_t handoff_in = 0;
  for (const node::WorkerTotals& worker : report.run.workers) {
    handoff_out += worker.handoff_out;
    handoff_in += worker.handoff_in;
  }
  expect_equal(handoff_out, handoff_in,
               "packets handoff_out = handoff_in, over all workers, does not hold");
  for (const node::CaptureTotals& capture : report.run.captures) {
    if (capture.missing == 0) continue;
    broken_.push_back(fmt::format("{}: {} of {} packets were not delivered; did the file change?",
                                  capture.path, capture.missing, capture.packets));
  }
}

}  // namespace roost::control
