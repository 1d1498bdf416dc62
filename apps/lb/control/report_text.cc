// The report as people read it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "apps/lb/control/report.h"
#include "roost/control/report_text.h"

namespace roost::lb {

namespace {

using Out = control::TextOut;

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
                     columns - 2, backend.counters.flows,
                     100 * control::per(backend.counters.flows, flows), backend.counters.packets,
                     backend.counters.bytes, backend.endpoint,
                     backend.is_removed ? " removed" : "");
    }
  }
}

void write_forgotten(const Report& report, Out out) {
  if (report.forgotten.flows == 0) return;
  fmt::format_to(out, "\nbackends removed and forgotten had {} flows, {} packets, {} bytes\n",
                 report.forgotten.flows, report.forgotten.packets, report.forgotten.bytes);
}

void write_flows(const Report& report, Out out) {
  fmt::format_to(
      out,
      "\nflows {:>18} created {:>9} live {:>9} ended {:>9} expired {:>6} deleted {:>6} evicted\n",
      report.flows.created, report.live, report.flows.ended, report.flows.expired,
      report.flows.deleted, report.flows.evicted);
}

}  // namespace

std::string format_text(const Report& report) {
  std::string text;
  const Out out = std::back_inserter(text);
  control::write_ports(report, "balancer", out);
  control::write_captures(report, out);
  control::write_workers(
      report, [](Out line) { fmt::format_to(line, " {:>12} {:>12}", "flows created", "live"); },
      [&](size_t worker, Out line) {
        const Report::WorkerFlows& flows = report.worker_flows[worker];
        fmt::format_to(line, " {:>12} {:>12}", flows.created, flows.live);
      },
      out);
  write_services(report, out);
  write_forgotten(report, out);
  write_flows(report, out);
  control::write_drops(report, kDropCauses, out);
  control::write_icmp_errors(report, out);
  control::write_neighbours(report.neighbours, out);
  control::write_cycles(report, out);
  fmt::format_to(out, "tables of {:.1f} MiB on {} pages, lookups by the {} kernel\n",
                 static_cast<double>(report.table_bytes) / (1 << 20), report.page_size,
                 report.kernel);
  return text;
}

}  // namespace roost::lb
