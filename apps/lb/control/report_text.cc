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
  constexpr std::span kFlows = std::span(kBackendCounters).first<1>();
  constexpr std::span kPackets = std::span(kBackendCounters).subspan<1>();
  const size_t columns = name_columns(report);
  for (const ServiceReport& service : report.services) {
    uint64_t flows = 0;
    for (const BackendReport& backend : service.backends) flows += backend.counters.flows;
    fmt::format_to(out, "\n{:<{}}", "service " + service.name, columns);
    control::write_heads<BackendCounters>(kFlows, out);
    fmt::format_to(out, " {:>9}", "share");
    control::write_heads<BackendCounters>(kPackets, out);
    fmt::format_to(out, "   {} {}{}\n", service.endpoint, service.protocol,
                   service.mode == mode_name(Mode::kNat) ? "" : " " + service.mode);
    for (const BackendReport& backend : service.backends) {
      fmt::format_to(out, "  {:<{}}", backend.name, columns - 2);
      control::write_cells<BackendCounters>(kFlows, backend.counters, out);
      fmt::format_to(out, " {:>8.1f}%", 100 * control::per(backend.counters.flows, flows));
      control::write_cells<BackendCounters>(kPackets, backend.counters, out);
      fmt::format_to(out, "   {}{}\n", backend.endpoint, backend.is_removed ? " removed" : "");
    }
  }
}

void write_forgotten(const Report& report, Out out) {
  if (report.forgotten.flows == 0) return;
  fmt::format_to(out, "\nbackends removed and forgotten had {}\n",
                 control::all_in_words<BackendCounters>(kBackendCounters, report.forgotten));
}

void write_flows(const Report& report, Out out) {
  fmt::format_to(out, "\nflows");
  control::write_row<FlowCounts>(kFlowsCreated, report.flows, out);
  fmt::format_to(out, " {:>9} live", report.live);
  control::write_row<FlowCounts>(kFlowsOver, report.flows, out);
  fmt::format_to(out, "\n");
}

void write_takeover(const Report& report, Out out) {
  if (report.takeover.takeovers != 0) {
    fmt::format_to(out, "{} connections were taken over, and {} microseconds no packet decided\n",
                   report.flows.adopted, report.takeover.pause_microseconds);
  }
  if (report.flows.moved != 0) {
    fmt::format_to(out, "{} connections moved to another process\n", report.flows.moved);
  }
}

void write_resets(const l3::ResetCounters& resets, Out out) {
  if (resets.sent + resets.limited + resets.unsendable == 0) return;
  fmt::format_to(out, "TCP resets sent: {}; not sent: {} for their number, {} by rule\n",
                 resets.sent, resets.limited, resets.unsendable);
}

}  // namespace

std::string format_text(const Report& report) {
  std::string text;
  const Out out = std::back_inserter(text);
  control::write_ports(report, "balancer", out);
  control::write_captures(report, out);
  control::write_workers(
      report, [](Out line) { control::write_heads<WorkerFlows>(kWorkerFlowCounters, line); },
      [&](size_t worker, Out line) {
        control::write_cells<WorkerFlows>(kWorkerFlowCounters, report.worker_flows[worker], line);
      },
      out);
  write_services(report, out);
  write_forgotten(report, out);
  write_flows(report, out);
  write_takeover(report, out);
  control::write_drops(report, kDropCauses, out);
  control::write_icmp_errors(report, out);
  write_resets(report.resets, out);
  control::write_neighbours(report.neighbours, out);
  control::write_cycles(report, out);
  fmt::format_to(out, "tables of {:.1f} MiB on {} pages, lookups by the {} kernel\n",
                 static_cast<double>(report.table_bytes) / (1 << 20), report.page_size,
                 report.kernel);
  return text;
}

}  // namespace roost::lb
