// What the run of any function did, in numbers, and the sums that must close: a report whose sums
// do not is a bug of the program or of a device. A function's own report adds what is its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/counter.h"
#include "roost/io/counters.h"
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/local_delivery.h"
#include "roost/l3/next_hops.h"
#include "roost/net/drop_cause.h"
#include "roost/node/run_totals.h"

namespace roost::control {

struct NeighbourReport {
  l3::NeighbourCounters counters{};
  std::array<uint64_t, l3::kNeighbourStateCount> count_by_state{};
  uint64_t waiting = 0;
  l3::ListenerCounters listener{};

  NeighbourReport& operator+=(const NeighbourReport& other);
};
// What stands beside the lists of its parts.
inline constexpr std::array kNeighbourReportCounters = {
    Counter{"waiting", &NeighbourReport::waiting, "packets that wait for their neighbour now"}};
[[nodiscard]] NeighbourReport report_neighbours(const l3::NextHops& next_hops);

struct ReloadCounters {
  uint64_t taken = 0;
  uint64_t refused = 0;
};
inline constexpr std::array kReloadCounters = {
    Counter{"taken", &ReloadCounters::taken, "readings of the configuration that were taken"},
    Counter{"refused", &ReloadCounters::refused,
            "readings of the configuration that were refused, and changed nothing"}};
static_assert(lists_all(kReloadCounters));

// The ports' counters are those of all together; what packets are reported by: kPacketCounters
// and node::kFrameCounters.
struct RunReport : io::PortCounters, l3::LocalCounters {
  node::RunTotals run{};  // drops include what ports refused and delivered malformed
  l3::IcmpErrorCounters icmp_errors{};
  NeighbourReport neighbours{};
  ReloadCounters reloads{};                // while it runs
  std::vector<node::RunTotals> running{};  // while it runs: each worker's totals
};

inline constexpr std::array kPacketCounters = {
    Counter{"received", &io::PortCounters::received, "packets that ports delivered"}.with_metric(
        "received_packets"),
    Counter{"received_bytes", &io::PortCounters::received_bytes, "bytes of whole frames received"}
        .with_metric("received_bytes"),
    Counter{"sent", &io::PortCounters::sent, "packets that devices took"}.with_metric(
        "sent_packets"),
    Counter{"sent_bytes", &io::PortCounters::sent_bytes, "bytes of whole frames sent"}.with_metric(
        "sent_bytes")};

// Adds up the ports' counts, and puts what they refused and delivered malformed under their drop
// causes.
void add_up_ports(RunReport& report);

// What a state that every function has counted, into the report of all of them: next_hops(),
// icmp_errors(), local_counters().
template <class State>
void add_state(State& state, RunReport& report) {
  add_counters<l3::IcmpErrorCounters>(l3::kIcmpErrorCounters, state.icmp_errors(),
                                      report.icmp_errors);
  report.neighbours += report_neighbours(state.next_hops());
  add_counters<l3::LocalCounters>(l3::kLocalCounters, state.local_counters(), report);
}

// The sums of a run. A sentence for each that does not close.
class SumCheck {
 public:
  // `sentence`: what does not hold.
  void expect_equal(uint64_t left, uint64_t right, std::string_view sentence);
  void expect(bool holds, std::string_view sentence);

  // Those of every function: packets, neighbours, workers, captures; `causes` are all that the
  // function has.
  void check_run(const RunReport& report, std::span<const net::DropCauseInfo> causes);

  [[nodiscard]] std::vector<std::string> take() { return std::move(broken_); }

 private:
  std::vector<std::string> broken_;
};

}  // namespace roost::control
