#include "roost/control/report_text.h"

#include <fmt/format.h>

namespace roost::control {

namespace {

constexpr auto kMissed = counter_of(node::kDeviceLosses, &node::DeviceLosses::device_missed);
constexpr auto kErrors = counter_of(node::kDeviceLosses, &node::DeviceLosses::device_errors);
constexpr auto kOriginated = counter_of(node::kFrameCounters, &node::FrameCounters::originated);
constexpr auto kReplicated = counter_of(node::kFrameCounters, &node::FrameCounters::replicated);
constexpr auto kConsumed = counter_of(node::kFrameCounters, &node::FrameCounters::consumed);
constexpr auto kLost = counter_of(node::kCaptureCounters, &node::CaptureTotals::lost);
constexpr auto kMissing = counter_of(node::kCaptureCounters, &node::CaptureTotals::missing);

}  // namespace

double per(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void write_ports(const RunReport& report, std::string_view function, TextOut out) {
  fmt::format_to(out, "\n{:<24}", "port");
  write_heads<io::PortCounters>(io::kPortCounters, out);
  fmt::format_to(out, "\n");
  for (size_t i = 0; i < report.run.ports.size(); ++i) {
    const node::PortTotals& port = report.run.ports[i];
    fmt::format_to(out, "{:<24}", fmt::format("{} {}", i, port.device));
    write_cells<io::PortCounters>(io::kPortCounters, port, out);
    fmt::format_to(out, "\n");
    if (sum_of<node::DeviceLosses>(node::kDeviceLosses, port) != 0) {
      fmt::format_to(out, "  its device lost {} and reports {}\n", in_words(kMissed, port),
                     in_words(kErrors, port));
    }
  }
  fmt::format_to(out, "{:<24}", "all");
  write_cells<io::PortCounters>(io::kPortCounters, report, out);
  fmt::format_to(out, "\n");
  if (report.run.originated + report.run.consumed != 0) {
    fmt::format_to(out, "{}; {}\n", in_words(kOriginated, report.run, function),
                   in_words(kConsumed, report.run, function));
  }
  if (report.run.replicated != 0) {
    fmt::format_to(out, "{}\n", in_words(kReplicated, report.run));
  }
}

void write_captures(const RunReport& report, TextOut out) {
  for (const node::CaptureTotals& capture : report.run.captures) {
    fmt::format_to(out, "{}: {} of {} packets delivered", capture.path, capture.delivered,
                   capture.packets);
    if (capture.lost != 0) fmt::format_to(out, ", {}", in_words(kLost, capture));
    if (capture.missing != 0) fmt::format_to(out, ", {}", in_words(kMissing, capture));
    if (capture.cut_reason) fmt::format_to(out, "; the file is cut {}", *capture.cut_reason);
    fmt::format_to(out, "\n");
  }
}

// What one worker does alone is in the other tables.
void write_workers(const RunReport& report, const std::function<void(TextOut)>& write_own_heads,
                   const std::function<void(size_t worker, TextOut)>& write_own, TextOut out) {
  if (report.run.workers.size() < 2) return;
  constexpr std::span kReceived = std::span(node::kWorkerCounters).first<2>();
  constexpr std::span kDecided = std::span(node::kWorkerCounters).subspan<2>();
  fmt::format_to(out, "\n{:<8}", "worker");
  write_heads<node::WorkerTotals>(kReceived, out);
  write_heads<io::HandoffCounters>(io::kHandoffCounters, out);
  write_heads<node::WorkerTotals>(kDecided, out);
  write_own_heads(out);
  fmt::format_to(out, "\n");
  for (size_t i = 0; i < report.run.workers.size(); ++i) {
    const node::WorkerTotals& worker = report.run.workers[i];
    fmt::format_to(out, "{:<8}", i);
    write_cells<node::WorkerTotals>(kReceived, worker, out);
    write_cells<io::HandoffCounters>(io::kHandoffCounters, worker, out);
    write_cells<node::WorkerTotals>(kDecided, worker, out);
    write_own(i, out);
    fmt::format_to(out, "\n");
  }
}

void write_drops(const RunReport& report, std::span<const net::DropCauseInfo> causes, TextOut out) {
  bool has_drops = false;
  for (const net::DropCauseInfo& info : causes) {
    const uint64_t count = report.run.drops[info.cause];
    if (count == 0) continue;
    if (!has_drops) fmt::format_to(out, "\n{:<24} {:>14}\n", "drops by cause", "packets");
    has_drops = true;
    fmt::format_to(out, "  {:<22} {:>14}\n", info.name, count);
  }
  if (!has_drops) fmt::format_to(out, "no packet was dropped\n");
}

void write_icmp_errors(const RunReport& report, TextOut out) {
  const l3::IcmpErrorCounters& icmp = report.icmp_errors;
  if (sum_of<l3::IcmpErrorCounters>(l3::kIcmpErrorCounters, icmp) == 0) return;
  using l3::IcmpErrorCounters;
  // Unreachable only when there were any.
  const auto sent = l3::kIcmpErrorsSent.first(icmp.unreachable == 0 ? 2 : 3);
  fmt::format_to(out, "ICMP errors sent: {}; not sent: {}\n",
                 all_in_words<IcmpErrorCounters>(sent, icmp),
                 all_in_words<IcmpErrorCounters>(l3::kIcmpErrorsNotSent, icmp));
}

void write_neighbours(const NeighbourReport& report, TextOut out) {
  const l3::NeighbourCounters& c = report.counters;
  fmt::format_to(out, "\nneighbours ");
  for (size_t state = 0; state < l3::kNeighbourStateCount; ++state) {
    const uint64_t count = report.count_by_state[state];
    if (count != 0) fmt::format_to(out, " {} {},", count, l3::kNeighbourStateNames[state]);
  }
  fmt::format_to(out, " {}; {}, {} lost\n",
                 all_in_words<l3::NeighbourCounters>(l3::kNeighbourEvents, c),
                 all_in_words<l3::NeighbourCounters>(l3::kNeighbourPackets, c),
                 sum_of<l3::NeighbourCounters>(l3::kNeighbourLosses, c));
}

void write_cycles(const RunReport& report, TextOut out) {
  const node::StageCycles& cycles = report.run.cycles;
  fmt::format_to(
      out,
      "\ncycles a packet: {:.0f} to receive, {:.0f} to process, {:.0f} to transmit, {:.0f} "
      "for upkeep; {:.1f} packets a batch; {:.2f} s, {:.1f} % of its core{}\n",
      per(cycles.receive, report.received), per(cycles.process, report.received),
      per(cycles.transmit, report.received), per(cycles.upkeep, report.received),
      per(report.received, report.run.batches), report.run.seconds, 100 * report.run.cpu_share(),
      report.run.workers.size() > 1 ? "s" : "");
}

}  // namespace roost::control
