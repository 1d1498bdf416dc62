// The report as people read it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "apps/lb/control/report.h"

namespace roost::lb {

namespace {

using Out = std::back_insert_iterator<std::string>;

double per(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void write_ports(const Report& report, Out out) {
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
    fmt::format_to(out, "{} of the balancer's own among those sent; {} received were for itself\n",
                   report.run.originated, report.run.consumed);
  }
}

void write_neighbours(const Report& report, Out out) {
  const l3::NeighbourCounters& c = report.neighbours.counters;
  fmt::format_to(out, "\nneighbours ");
  for (size_t state = 0; state < l3::kNeighbourStateCount; ++state) {
    const uint64_t count = report.neighbours.count_by_state[state];
    if (count != 0) fmt::format_to(out, " {} {},", count, l3::kNeighbourStateNames[state]);
  }
  fmt::format_to(out, " {} questions asked, {} answered, {} failed; {} packets waited, {} lost\n",
                 c.questions, c.answers_given, c.failed, c.waited,
                 c.lost_failed + c.lost_evicted + c.lost_no_room);
}

void write_captures(const Report& report, Out out) {
  for (const node::CaptureTotals& capture : report.run.captures) {
    fmt::format_to(out, "{}: {} of {} packets delivered", capture.path, capture.delivered,
                   capture.packets);
    if (capture.lost != 0) fmt::format_to(out, ", {} lost for want of a buffer", capture.lost);
    if (capture.missing != 0) fmt::format_to(out, ", {} missing", capture.missing);
    if (capture.cut_reason) fmt::format_to(out, "; the file is cut {}", *capture.cut_reason);
    fmt::format_to(out, "\n");
  }
}

// What one worker does alone is in the other tables.
void write_workers(const Report& report, Out out) {
  if (report.run.workers.size() < 2) return;
  fmt::format_to(out, "\n{:<8} {:>14} {:>14} {:>14} {:>14} {:>12} {:>12}\n", "worker", "received",
                 "given", "taken", "decided", "flows made", "live");
  for (size_t i = 0; i < report.run.workers.size(); ++i) {
    const node::WorkerTotals& worker = report.run.workers[i];
    fmt::format_to(out, "{:<8} {:>14} {:>14} {:>14} {:>14} {:>12} {:>12}\n", i, worker.received,
                   worker.given, worker.taken, worker.decided, report.worker_flows[i].made,
                   report.worker_flows[i].live);
  }
}

// Of the first column: the longest name, and what stands before it.
size_t name_columns(const Report& report) {
  size_t columns = 24;
  for (const ServiceReport& service : report.services) {
    columns = std::max(columns, service.name.size() + 9);
    for (const BackendReport& backend : service.backends) {
      columns = std::max(columns, backend.name.size() + 3);
    }
  }
  return columns;
}

void write_services(const Report& report, Out out) {
  const size_t columns = name_columns(report);
  for (const ServiceReport& service : report.services) {
    uint64_t flows = 0;
    for (const BackendReport& backend : service.backends) flows += backend.counters.flows;
    fmt::format_to(out, "\n{:<{}} {:>14} {:>9} {:>14} {:>16}   {} {}{}\n",
                   "service " + service.name, columns, "flows", "share", "packets", "bytes",
                   service.endpoint, service.protocol,
                   service.mode == mode_name(Mode::kNat) ? "" : " " + service.mode);
    for (const BackendReport& backend : service.backends) {
      fmt::format_to(out, "  {:<{}} {:>14} {:>8.1f}% {:>14} {:>16}   {}{}\n", backend.name,
                     columns - 2, backend.counters.flows, 100 * per(backend.counters.flows, flows),
                     backend.counters.packets, backend.counters.bytes, backend.endpoint,
                     backend.is_removed ? " removed" : "");
    }
  }
}

void write_forgotten(const Report& report, Out out) {
  if (report.forgotten.flows == 0) return;
  fmt::format_to(out, "\nbackends removed and forgotten had {} flows, {} packets, {} bytes\n",
                 report.forgotten.flows, report.forgotten.packets, report.forgotten.bytes);
}

void write_flows_and_drops(const Report& report, Out out) {
  fmt::format_to(
      out, "\nflows {:>18} made {:>9} live {:>9} ended {:>9} expired {:>6} deleted {:>6} evicted\n",
      report.flows.made, report.live, report.flows.ended, report.flows.expired,
      report.flows.deleted, report.flows.evicted);
  bool has_drops = false;
  for (const net::DropCauseInfo& info : kDropCauses) {
    const uint64_t count = report.run.drops[info.cause];
    if (count == 0) continue;
    if (!has_drops) fmt::format_to(out, "\n{:<24} {:>14}\n", "drops by cause", "packets");
    has_drops = true;
    fmt::format_to(out, "  {:<22} {:>14}\n", info.name, count);
  }
  if (!has_drops) fmt::format_to(out, "no packet was dropped\n");
  const l3::IcmpErrorCounters& icmp = report.icmp_answers;
  if (icmp.too_big + icmp.time_exceeded + icmp.limited + icmp.unsendable != 0) {
    fmt::format_to(out,
                   "ICMP errors sent: {} too big, {} time exceeded; not sent: {} for their number, "
                   "{} by rule\n",
                   icmp.too_big, icmp.time_exceeded, icmp.limited, icmp.unsendable);
  }
}

}  // namespace

std::string format_text(const Report& report) {
  std::string text;
  const Out out = std::back_inserter(text);
  write_ports(report, out);
  write_captures(report, out);
  write_workers(report, out);
  write_services(report, out);
  write_forgotten(report, out);
  write_flows_and_drops(report, out);
  write_neighbours(report, out);
  fmt::format_to(
      out,
      "\ncycles a packet: {:.0f} to receive, {:.0f} to process, {:.0f} to transmit, {:.0f} "
      "for upkeep; {:.1f} packets a batch; {:.2f} s\n",
      per(report.run.cycles.receive, report.received),
      per(report.run.cycles.process, report.received),
      per(report.run.cycles.transmit, report.received),
      per(report.run.cycles.upkeep, report.received), per(report.received, report.run.batches),
      report.run.seconds);
  fmt::format_to(out, "tables of {:.1f} MiB on {} pages, lookups by the {} kernel\n",
                 static_cast<double>(report.table_bytes) / (1 << 20), report.page_size,
                 report.kernel);
  return text;
}

}  // namespace roost::lb
