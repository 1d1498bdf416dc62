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
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/next_hops.h"
#include "roost/net/drop_cause.h"
#include "roost/node/run_totals.h"

namespace roost::control {

struct NeighbourReport {
  l3::NeighbourCounters counters{};
  std::array<uint64_t, l3::kNeighbourStateCount> count_by_state{};
  uint64_t waiting = 0;  // packets that still wait for an advertisement
  l3::ListenerCounters listener{};

  NeighbourReport& operator+=(const NeighbourReport& other);
};
[[nodiscard]] NeighbourReport report_neighbours(const l3::NextHops& next_hops);

struct RunReport {
  node::RunTotals run{};  // drops include what ports refused and delivered malformed
  uint64_t received = 0;  // malformed ones too
  uint64_t received_bytes = 0;
  uint64_t sent = 0;
  uint64_t sent_bytes = 0;
  l3::IcmpErrorCounters icmp_errors{};
  NeighbourReport neighbours{};
  uint64_t echo_replies = 0;  // pings of an own address, answered in place
  // While it runs: files taken and refused, and each worker's totals.
  uint64_t reloads = 0;
  uint64_t reloads_refused = 0;
  std::vector<node::RunTotals> running{};
};

// Adds up the ports' counts, and puts what they refused and delivered malformed under their drop
// causes.
void add_up_ports(RunReport& report);

// What a state that every function has counted, into the report of all of them: next_hops(),
// icmp_errors(), echo_replies().
template <class State>
void add_state(State& state, RunReport& report) {
  add_counters<l3::IcmpErrorCounters>(l3::kIcmpErrorCounters, state.icmp_errors(),
                                      report.icmp_errors);
  report.neighbours += report_neighbours(state.next_hops());
  report.echo_replies += state.echo_replies();
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
