// The parts of a report that every function has, as people read them: tables and sentences, each
// with its newline.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/counter.h"
#include "roost/control/counter_text.h"
#include "roost/control/run_report.h"
#include "roost/net/drop_cause.h"

namespace roost::control {

[[nodiscard]] double per(uint64_t part, uint64_t whole);  // 0 of nothing

// A line for each counter that is not 0, under a head.
template <class Counters>
void write_counts(std::string_view head, std::span<const Counter<Counters>> list,
                  const Counters& values, TextOut out) {
  fmt::format_to(out, "\n{}\n", head);
  for (const Counter<Counters>& one : list) {
    const uint64_t count = values.*one.value;
    if (count != 0) fmt::format_to(out, "  {:<22} {:>14}\n", one.name, count);
  }
}

// `function`: as sentences name it, "balancer".
void write_ports(const RunReport& report, std::string_view function, TextOut out);
void write_captures(const RunReport& report, TextOut out);
// A line a worker, when there are several. `write_own_heads` and `write_own`: the function's
// columns.
void write_workers(const RunReport& report, const std::function<void(TextOut)>& write_own_heads,
                   const std::function<void(size_t worker, TextOut)>& write_own, TextOut out);
void write_drops(const RunReport& report, std::span<const net::DropCauseInfo> causes, TextOut out);
void write_icmp_errors(const RunReport& report, TextOut out);
void write_neighbours(const NeighbourReport& report, TextOut out);
void write_cycles(const RunReport& report, TextOut out);

}  // namespace roost::control
