// The tables of a function's manual that say what lists of the code say. They stand between
//
//   <!-- from the code: drop causes -->
//   <!-- end -->
//
// A test compares them; with ROOST_WRITE_MANUALS in the environment it writes them instead.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "roost/base/counter.h"
#include "roost/control/run_report.h"
#include "roost/net/drop_cause.h"

namespace roost::control {

inline std::string drop_causes_table(std::span<const net::DropCauseInfo> causes) {
  std::string text = "| cause | the packet | what to look at |\n|---|---|---|\n";
  for (const net::DropCauseInfo& info : causes) {
    text += fmt::format("| `{}` | {} | {} |\n", info.name, info.packet, info.look_at);
  }
  return text;
}

inline constexpr std::string_view kCountersHead = "| field | counter | counts |\n|---|---|---|\n";

// Rows below kCountersHead; `field`: of the report's JSON, none for one of its own. `function`: as
// the texts name it, "balancer".
template <class Counters>
std::string counter_rows(std::string_view field, std::span<const Counter<Counters>> list,
                         std::string_view function = {}) {
  std::string text;
  for (const Counter<Counters>& one : list) {
    text += fmt::format("| {} | `{}` | {} |\n", field.empty() ? "" : fmt::format("`{}`", field),
                        one.name, fmt::format(fmt::runtime(one.help), function));
  }
  return text;
}

// Of every function: its packets, and what else is of the run.
inline std::string packet_counter_rows(std::string_view function) {
  return counter_rows<io::PortCounters>("packets", kPacketCounters) +
         counter_rows<node::FrameCounters>("packets", node::kFrameCounters, function);
}
inline std::string device_counter_rows(std::string_view function) {
  return counter_rows<io::PortCounters>("ports", io::kReportedPortCounters) +
         counter_rows<node::DeviceLosses>("ports", node::kDeviceLosses, function) +
         counter_rows<node::CaptureTotals>("captures", node::kCaptureCounters) +
         counter_rows<node::TurnCounters>("run", node::kTurnCounters) +
         counter_rows<node::WorkerTotals>("workers", node::kWorkerCounters) +
         counter_rows<io::HandoffCounters>("workers", io::kReportedHandoffCounters) +
         counter_rows<node::TurnCounters>("workers", node::kTurnCounters) +
         counter_rows<ReloadCounters>("reloads", kReloadCounters);
}

// Of functions with a network layer.
inline std::string network_counter_rows() {
  return counter_rows<l3::IcmpErrorCounters>("icmp_errors_sent", l3::kIcmpErrorCounters) +
         counter_rows<l3::LocalCounters>("", l3::kLocalCounters) +
         counter_rows<l3::NeighbourCounters>("neighbours", l3::kNeighbourCounters) +
         counter_rows<NeighbourReport>("neighbours", kNeighbourReportCounters) +
         counter_rows<l3::ListenerCounters>("neighbours", l3::kListenerCounters);
}
inline std::string run_counter_rows(std::string_view function) {
  return packet_counter_rows(function) + network_counter_rows() + device_counter_rows(function);
}

inline void expect_in_manual(const std::string& path, std::string_view name,
                             const std::string& table) {
  std::ostringstream read;
  read << std::ifstream(path).rdbuf();
  std::string text = read.str();
  const std::string begin_mark = fmt::format("<!-- from the code: {} -->\n", name);
  const size_t mark = text.find(begin_mark);
  ASSERT_NE(mark, std::string::npos) << path << " has no " << begin_mark;
  const size_t begin = mark + begin_mark.size();
  const size_t end = text.find("<!-- end -->", begin);
  ASSERT_NE(end, std::string::npos) << path;
  if (std::getenv("ROOST_WRITE_MANUALS") != nullptr) {
    text.replace(begin, end - begin, table);
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), table)
      << path << ", " << name << ": run this test with ROOST_WRITE_MANUALS=1";
}

}  // namespace roost::control
