// What a run did, in numbers: gathered once at its end, shown as a table or as JSON, and added up.
// The sums must close; a report whose sums do not is a bug of this program or of a device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/lb/drop_cause.h"
#include "apps/lb/state.h"
#include "roost/node/neighbours.h"
#include "roost/node/stage_cycles.h"

namespace roost::lb {

// What passed through a port, as the worker counted it, and what its device says it lost.
struct PortTotals {
  std::string device{};
  uint64_t received = 0;  // handed to the datapath
  uint64_t received_bytes = 0;
  uint64_t sent = 0;
  uint64_t sent_bytes = 0;
  uint64_t refused = 0;        // not taken by the device
  uint64_t no_buffer = 0;      // made by the balancer, and no buffer for it
  uint64_t malformed = 0;      // delivered with lengths that contradict each other
  uint64_t device_missed = 0;  // lost before the worker: full queue, no buffer
  uint64_t device_errors = 0;  // reported by the device, either direction
};

// A capture that was replayed.
struct CaptureTotals {
  std::string path{};
  uint64_t packets = 0;    // whole packets in the file
  uint64_t delivered = 0;  // of those
  uint64_t lost = 0;       // by the device, for want of a buffer
  uint64_t missing = 0;    // never delivered: the file changed
  std::optional<std::string> cut_reason{};
};

// What one worker did. received + taken + its originated frames = what it decided or gave.
struct WorkerTotals {
  uint64_t received = 0;  // by its queues of the ports
  uint64_t sent = 0;
  uint64_t decided = 0;  // sent, dropped or consumed: its own flows' packets, and nobody's
  uint64_t given = 0;    // to the workers that own them
  uint64_t refused = 0;  // not given, the ring was full
  uint64_t taken = 0;    // from other workers
  uint64_t copies_taken = 0;
  uint64_t copies_lost = 0;
  uint64_t batches = 0;
  node::StageCycles cycles{};
  uint64_t flows_made = 0;
  uint64_t flows_live = 0;
};

// What all workers did.
struct RunTotals {
  std::vector<PortTotals> ports{};
  std::vector<CaptureTotals> captures{};  // empty for a live run
  std::vector<WorkerTotals> workers{};
  std::array<uint64_t, kDropCauseCount> drops{};  // decided by the datapath
  uint64_t originated = 0;                        // frames that the datapath made
  uint64_t consumed = 0;                          // packets that it kept for itself
  uint64_t batches = 0;
  node::StageCycles cycles{};
  double seconds = 0;  // by the wall clock
};

struct BackendReport {
  std::string name{};
  std::string endpoint{};
  BackendCounters counters{};
  bool is_removed = false;  // the configuration names it no more
  uint32_t slot = 0;        // of its family's layout
};

struct ServiceReport {
  std::string name{};
  std::string endpoint{};
  std::string protocol{};
  std::string mode{};
  std::vector<BackendReport> backends{};
  bool is_removed = false;
  size_t family = 0;  // 0 IPv4, 1 IPv6
};

struct NeighbourReport {
  node::NeighbourCounters counters{};
  std::array<uint64_t, node::kNeighbourStateCount> count_by_state{};
  uint64_t waiting = 0;  // packets that still wait for an answer
  node::ListenerCounters listener{};

  NeighbourReport& operator+=(const NeighbourReport& other);
};
[[nodiscard]] NeighbourReport report_neighbours(const NextHops& next_hops);

struct Report {
  RunTotals run{};        // drops include what ports refused and delivered malformed
  uint64_t received = 0;  // malformed ones too
  uint64_t received_bytes = 0;
  uint64_t sent = 0;
  uint64_t sent_bytes = 0;
  FlowCounts flows{};
  IcmpAnswerCounters icmp_answers{};
  FragmentReport fragments{};
  uint64_t live = 0;     // counted one by one
  bool is_sound = true;  // every connection has its reply tuple and the other way round
  std::vector<ServiceReport> services{};
  BackendCounters forgotten{};  // of backends that were removed and are in no service any more
  NeighbourReport neighbours{};
  uint64_t echo_replies = 0;  // pings of a virtual address or a port, answered in place
  uint64_t table_bytes = 0;
  std::string page_size{};
  std::string kernel{};
};

// Ends the run: hands over every expired connection and counts the live ones. One state a worker,
// one at least, all of the same configuration.
[[nodiscard]] Report make_report(std::span<State* const> states, RunTotals run);
[[nodiscard]] inline Report make_report(State& state, RunTotals run) {
  State* const only = &state;
  return make_report(std::span(&only, 1), std::move(run));
}

// Adds up the ports' counts, and puts what they refused and delivered malformed under their drop
// causes.
void add_up_ports(Report& report);

// The services of a layout in the order of the configuration, then those removed; with what
// `counters_at` says of each backend.
using BackendCountersAt = std::function<BackendCounters(size_t family, uint32_t slot)>;
[[nodiscard]] std::vector<ServiceReport> report_services(const Layout& layout,
                                                         const BackendCountersAt& counters_at);

// ADDRESS:PORT; an IPv6 address is in brackets.
[[nodiscard]] std::string endpoint_text(const net::IpAddress& address, uint16_t port);

// A sentence for each sum that does not close; none when all is well.
[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);

// For people: a few tables.
[[nodiscard]] std::string format_text(const Report& report);

// For machines: one JSON object with the same numbers; README.md lists its fields.
[[nodiscard]] std::string format_json(const Report& report);

}  // namespace roost::lb
