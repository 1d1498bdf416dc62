// What a run did, in numbers that every function has: by port, by capture, by worker, and in sum.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/base/counter.h"
#include "roost/io/counters.h"
#include "roost/net/drop_cause.h"
#include "roost/node/stage_cycles.h"
#include "roost/node/work_counters.h"

namespace roost::node {

// What a device says it lost. What each counts: kDeviceLosses.
struct DeviceLosses {
  uint64_t device_missed = 0;
  uint64_t device_errors = 0;
};

inline constexpr std::array kDeviceLosses = {
    Counter{"device_missed", &DeviceLosses::device_missed,
            "packets that the device lost before the {}"}
        .with_metric("port_missed_packets")
        .with_text("packets before they were received"),
    Counter{"device_errors", &DeviceLosses::device_errors, "errors that the device reports"}
        .with_metric("port_errors")
        .with_text("errors")};
static_assert(lists_all(kDeviceLosses));

// What passed through a port, as the workers counted it, and what its device says it lost.
struct PortTotals : io::PortCounters, DeviceLosses {
  std::string device{};
};

// A capture that was replayed. What each counts: kCaptureCounters.
struct CaptureTotals {
  std::string path{};
  uint64_t packets = 0;
  uint64_t delivered = 0;
  uint64_t lost = 0;
  uint64_t missing = 0;
  std::optional<std::string> cut_reason{};
};

inline constexpr std::array kCaptureCounters = {
    Counter{"packets", &CaptureTotals::packets, "whole packets in the file"},
    Counter{"delivered", &CaptureTotals::delivered, "of those, delivered"},
    Counter{"lost", &CaptureTotals::lost, "lost by the device, no buffer being free"}.with_text(
        "lost because no buffer was free"),
    Counter{"missing", &CaptureTotals::missing, "never delivered: the file changed"}.with_text(
        "missing")};

// What one worker did. received + handoff_in + its originated frames and replicas =
// what it decided + handoff_out + handoff_full. What it is reported by: kWorkerCounters,
// kHandoffCounters and kTurnCounters.
struct WorkerTotals : io::PortCounters, io::HandoffCounters, TurnCounters {
  uint64_t decided = 0;
  StageCycles cycles{};
};

inline constexpr std::array kWorkerCounters = {
    Counter<WorkerTotals>{"received", &WorkerTotals::received, "packets received by its queues"}
        .with_text("received"),
    Counter<WorkerTotals>{"sent", &WorkerTotals::sent, "packets sent by its queues"},
    Counter<WorkerTotals>{"decided", &WorkerTotals::decided,
                          "packets sent, dropped or consumed: of its own flows, or of no flow"}
        .with_text("decided")};

// What all workers did.
struct RunTotals : FrameCounters, TurnCounters {
  std::vector<PortTotals> ports{};
  std::vector<CaptureTotals> captures{};  // empty for a live run
  std::vector<WorkerTotals> workers{};
  net::DropCounts drops{};  // decided by the datapath
  StageCycles cycles{};
  double seconds = 0;              // by the wall clock
  uint64_t cycles_per_second = 0;  // of `cycles`; 0: not known before the end
};

// The sums over ports and workers; not what devices say, for several workers share a device, nor
// captures, workers one by one, and the time.
void add(const RunTotals& from, RunTotals& to);

// What all ports did, with what they refused and delivered malformed put under its drop causes. A
// malformed packet was received, and dropped: from here on `received` has them too.
[[nodiscard]] io::PortCounters add_up_ports(RunTotals& totals);

}  // namespace roost::node
