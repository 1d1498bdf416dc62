// What a run did, in numbers that every function has: by port, by capture, by worker, and in sum.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/net/drop_cause.h"
#include "roost/node/stage_cycles.h"

namespace roost::node {

// What passed through a port, as the worker counted it, and what its device says it lost.
struct PortTotals {
  std::string device{};
  uint64_t received = 0;  // handed to the datapath
  uint64_t received_bytes = 0;
  uint64_t sent = 0;
  uint64_t sent_bytes = 0;
  uint64_t refused = 0;        // not taken by the device
  uint64_t no_buffer = 0;      // originated here, or a copy, and no buffer for it
  uint64_t malformed = 0;      // delivered with lengths that contradict each other
  uint64_t device_missed = 0;  // lost before the worker: full queue, no buffer
  uint64_t device_errors = 0;  // reported by the device, either direction
};

// A capture that was replayed.
struct CaptureTotals {
  std::string path{};
  uint64_t packets = 0;    // whole packets in the file
  uint64_t delivered = 0;  // of those
  uint64_t lost = 0;       // by the device, no buffer being free
  uint64_t missing = 0;    // never delivered: the file changed
  std::optional<std::string> cut_reason{};
};

// What one worker did. received + handoff_in + its originated frames and replicas =
// what it decided + handoff_out + handoff_full.
struct WorkerTotals {
  uint64_t received = 0;  // by its queues of the ports
  uint64_t sent = 0;
  uint64_t decided = 0;       // sent, dropped or consumed: its own flows' packets, or of no flow
  uint64_t handoff_out = 0;   // to the workers that own them
  uint64_t handoff_full = 0;  // dropped: the ring to their owner was full
  uint64_t handoff_in = 0;    // from other workers
  uint64_t copies_in = 0;
  uint64_t copies_lost = 0;
  uint64_t batches = 0;
  StageCycles cycles{};
};

// What all workers did.
struct RunTotals {
  std::vector<PortTotals> ports{};
  std::vector<CaptureTotals> captures{};  // empty for a live run
  std::vector<WorkerTotals> workers{};
  net::DropCounts drops{};  // decided by the datapath
  uint64_t originated = 0;  // frames that the datapath originated
  uint64_t replicated = 0;  // a packet that leaves by n ports: n - 1 times
  uint64_t consumed = 0;    // packets that it kept for itself
  uint64_t batches = 0;
  StageCycles cycles{};
  double seconds = 0;  // by the wall clock
};

// What a worker counted at a port: of io::PortCounters, or of other totals. Not what devices say of
// it: several workers share a device.
template <class PortCounts>
void add_port(const PortCounts& from, PortTotals& to) {
  to.received += from.received;
  to.received_bytes += from.received_bytes;
  to.sent += from.sent;
  to.sent_bytes += from.sent_bytes;
  to.refused += from.refused;
  to.no_buffer += from.no_buffer;
  to.malformed += from.malformed;
}
// The sums over ports and workers; not captures, workers one by one, and the time.
void add(const RunTotals& from, RunTotals& to);

// What all ports did: packets and bytes, with what they refused and delivered malformed put under
// its drop causes.
struct PortSums {
  uint64_t received = 0;  // malformed ones too
  uint64_t received_bytes = 0;
  uint64_t sent = 0;
  uint64_t sent_bytes = 0;
};
[[nodiscard]] PortSums add_up_ports(RunTotals& totals);

}  // namespace roost::node
