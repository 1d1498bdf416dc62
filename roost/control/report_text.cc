#include "roost/control/report_text.h"

#include <fmt/format.h>

namespace roost::control {

double per(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void write_ports(const RunReport& report, std::string_view function, TextOut out) {
  fmt::format_to(out, "\n{:<24} {:>14} {:>16} {:>14} {:>16}\n", "port", "received", "bytes", "sent",
                 "bytes");
  for (size_t i = 0; i < report.run.ports.size(); ++i) {
    const node::PortTotals& port = report.run.ports[i];
    fmt::format_to(out, "{:<24} {:>14} {:>16} {:>14} {:>16}\n",
                   fmt::format("{} {}", i, port.device), port.received + port.malformed,
                   port.received_bytes, port.sent, port.sent_bytes);
    if (port.device_missed + port.device_errors != 0) {
      fmt::format_to(out,
                     "  its device lost {} packets before they were received and reports {} "
                     "errors\n",
                     port.device_missed, port.device_errors);
    }
  }
  fmt::format_to(out, "{:<24} {:>14} {:>16} {:>14} {:>16}\n", "all", report.received,
                 report.received_bytes, report.sent, report.sent_bytes);
  if (report.run.originated + report.run.consumed != 0) {
    fmt::format_to(out, "{} of the {}'s own among those sent; {} received were for itself\n",
                   report.run.originated, function, report.run.consumed);
  }
  if (report.run.replicated != 0) {
    fmt::format_to(out, "{} of those sent are replicas: their packets left by several ports\n",
                   report.run.replicated);
  }
}

void write_captures(const RunReport& report, TextOut out) {
  for (const node::CaptureTotals& capture : report.run.captures) {
    fmt::format_to(out, "{}: {} of {} packets delivered", capture.path, capture.delivered,
                   capture.packets);
    if (capture.lost != 0)
      fmt::format_to(out, ", {} lost because no buffer was free", capture.lost);
    if (capture.missing != 0) fmt::format_to(out, ", {} missing", capture.missing);
    if (capture.cut_reason) fmt::format_to(out, "; the file is cut {}", *capture.cut_reason);
    fmt::format_to(out, "\n");
  }
}

// What one worker does alone is in the other tables.
void write_workers(const RunReport& report, std::string_view own_head,
                   const std::function<std::string(size_t worker)>& own, TextOut out) {
  if (report.run.workers.size() < 2) return;
  fmt::format_to(out, "\n{:<8} {:>14} {:>14} {:>14} {:>14}{}\n", "worker", "received",
                 "handoff out", "handoff in", "decided", own_head);
  for (size_t i = 0; i < report.run.workers.size(); ++i) {
    const node::WorkerTotals& worker = report.run.workers[i];
    fmt::format_to(out, "{:<8} {:>14} {:>14} {:>14} {:>14}{}\n", i, worker.received,
                   worker.handoff_out, worker.handoff_in, worker.decided, own(i));
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
  if (icmp.too_big + icmp.time_exceeded + icmp.unreachable + icmp.limited + icmp.unsendable == 0)
    return;
  fmt::format_to(out, "ICMP errors sent: {} too big, {} time exceeded", icmp.too_big,
                 icmp.time_exceeded);
  if (icmp.unreachable != 0) fmt::format_to(out, ", {} unreachable", icmp.unreachable);
  fmt::format_to(out, "; not sent: {} for their number, {} by rule\n", icmp.limited,
                 icmp.unsendable);
}

void write_neighbours(const NeighbourReport& report, TextOut out) {
  const l3::NeighbourCounters& c = report.counters;
  fmt::format_to(out, "\nneighbours ");
  for (size_t state = 0; state < l3::kNeighbourStateCount; ++state) {
    const uint64_t count = report.count_by_state[state];
    if (count != 0) fmt::format_to(out, " {} {},", count, l3::kNeighbourStateNames[state]);
  }
  fmt::format_to(out,
                 " {} solicitations sent, {} advertisements sent, {} failed; "
                 "{} packets waited, {} lost\n",
                 c.solicitations_sent, c.advertisements_sent, c.failed, c.waited,
                 c.lost_failed + c.lost_evicted + c.lost_no_room);
}

void write_cycles(const RunReport& report, TextOut out) {
  const node::StageCycles& cycles = report.run.cycles;
  fmt::format_to(
      out,
      "\ncycles a packet: {:.0f} to receive, {:.0f} to process, {:.0f} to transmit, {:.0f} "
      "for upkeep; {:.1f} packets a batch; {:.2f} s\n",
      per(cycles.receive, report.received), per(cycles.process, report.received),
      per(cycles.transmit, report.received), per(cycles.upkeep, report.received),
      per(report.received, report.run.batches), report.run.seconds);
}

}  // namespace roost::control
