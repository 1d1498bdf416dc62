// What is counted reaches the sums and the reports by its list, and people read it in its words.
#include <gtest/gtest.h>

#include <iterator>
#include <span>
#include <string>

#include "roost/control/counter_text.h"
#include "roost/control/report_json.h"
#include "roost/control/run_report.h"

namespace roost::control {
namespace {

// Another number for each listed counter; the last one used.
template <class Counters>
uint64_t fill(std::span<const Counter<Counters>> list, uint64_t number, Counters& values) {
  for (const Counter<Counters>& one : list) values.*one.value = ++number;
  return number;
}

// The listed counters of `sum` are `times` those of `one`.
template <class Counters>
void expect_times(std::span<const Counter<Counters>> list, uint64_t times, const Counters& one,
                  const Counters& sum) {
  for (const Counter<Counters>& counter : list) {
    EXPECT_EQ(sum.*counter.value, times * (one.*counter.value)) << counter.name;
  }
}

node::RunTotals numbered_totals() {
  node::RunTotals totals;
  totals.ports.resize(2);
  uint64_t number = 0;
  for (node::PortTotals& port : totals.ports) {
    number = fill<io::PortCounters>(io::kPortCounters, number, port);
    number = fill<node::DeviceLosses>(node::kDeviceLosses, number, port);
  }
  number = fill<node::FrameCounters>(node::kFrameCounters, number, totals);
  fill<node::TurnCounters>(node::kTurnCounters, number, totals);
  return totals;
}

TEST(RunTotals, of_workers_are_added_counter_by_counter) {
  const node::RunTotals worker = numbered_totals();
  node::RunTotals sum;
  for (int i = 0; i < 3; ++i) node::add(worker, sum);
  ASSERT_EQ(sum.ports.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    expect_times<io::PortCounters>(io::kPortCounters, 3, worker.ports[i], sum.ports[i]);
    expect_times<node::DeviceLosses>(node::kDeviceLosses, 0, worker.ports[i], sum.ports[i]);
  }
  expect_times<node::FrameCounters>(node::kFrameCounters, 3, worker, sum);
  expect_times<node::TurnCounters>(node::kTurnCounters, 3, worker, sum);
}

TEST(NeighbourReport, of_workers_are_added_counter_by_counter) {
  NeighbourReport worker;
  uint64_t number = fill<l3::NeighbourCounters>(l3::kNeighbourCounters, 0, worker.counters);
  number = fill<NeighbourReport>(kNeighbourReportCounters, number, worker);
  fill<l3::ListenerCounters>(l3::kListenerCounters, number, worker.listener);
  NeighbourReport sum;
  sum += worker;
  sum += worker;
  expect_times<l3::NeighbourCounters>(l3::kNeighbourCounters, 2, worker.counters, sum.counters);
  expect_times<NeighbourReport>(kNeighbourReportCounters, 2, worker, sum);
  expect_times<l3::ListenerCounters>(l3::kListenerCounters, 2, worker.listener, sum.listener);
}

// Malformed ones were received, by the port and by all ports together.
TEST(RunReport, has_the_sums_of_its_ports) {
  RunReport report;
  report.run = numbered_totals();
  const node::RunTotals before = report.run;
  add_up_ports(report);
  EXPECT_EQ(report.run.ports[1].received, before.ports[1].received + before.ports[1].malformed);
  EXPECT_EQ(report.received, report.run.ports[0].received + report.run.ports[1].received);
  for (const Counter<io::PortCounters>& one : std::span(io::kPortCounters).subspan<1>()) {
    EXPECT_EQ(report.*one.value, before.ports[0].*one.value + before.ports[1].*one.value)
        << one.name;
  }
}

TEST(RunReport, json_has_every_listed_field) {
  RunReport report;
  report.run = numbered_totals();
  report.run.workers.resize(1);
  report.reloads = {.taken = 7, .refused = 8};
  add_up_ports(report);
  const Json packets = packets_json(report);
  EXPECT_EQ(packets.size(), kPacketCounters.size() + node::kFrameCounters.size());
  EXPECT_EQ(packets["sent_bytes"], report.sent_bytes);
  EXPECT_EQ(packets["consumed"], report.run.consumed);
  const Json port = ports_json(report)[1];
  EXPECT_EQ(port.size(), 1 + io::kReportedPortCounters.size() + node::kDeviceLosses.size());
  EXPECT_EQ(port["no_buffer"], report.run.ports[1].no_buffer);
  EXPECT_EQ(port["device_errors"], report.run.ports[1].device_errors);
  EXPECT_EQ(reloads_json(report).dump(), R"({"taken":7,"refused":8})");
  EXPECT_EQ(worker_json(report.run.workers[0]).size(), node::kWorkerCounters.size() +
                                                           io::kReportedHandoffCounters.size() +
                                                           node::kTurnCounters.size() + 2);
}

TEST(CounterText, is_columns_or_words_of_what_people_read) {
  struct Counts {
    uint64_t sent = 0;
    uint64_t hidden = 0;
    uint64_t bytes = 0;
  };
  constexpr std::array kCounts = {
      Counter{"sent", &Counts::sent, "packets sent"}.with_text("sent", 6),
      Counter{"hidden", &Counts::hidden, "packets that hide"},
      Counter{"bytes", &Counts::bytes, "bytes sent"}.with_text("bytes", 8)};
  const Counts values{12, 5, 3456};
  std::string text;
  const TextOut out = std::back_inserter(text);
  write_heads<Counts>(kCounts, out);
  write_cells<Counts>(kCounts, values, out);
  EXPECT_EQ(text, "   sent    bytes     12     3456");
  text.clear();
  write_row<Counts>(kCounts, values, out);
  EXPECT_EQ(text, "     12 sent     3456 bytes");
  EXPECT_EQ(all_in_words<Counts>(kCounts, values), "12 sent, 3456 bytes");
  constexpr Counter kOwn = kCounts[0].with_text("of the {}'s own");
  EXPECT_EQ(in_words(kOwn, values, "router"), "12 of the router's own");
}

}  // namespace
}  // namespace roost::control
