// What a worker counts at a port and between workers. Reports are made of it, also without DPDK.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "roost/base/counter.h"

namespace roost::io {

// What passed between a port and a worker. Exact, and written by that worker only. What each
// counts: kPortCounters.
struct PortCounters {
  uint64_t received = 0;
  uint64_t received_bytes = 0;
  uint64_t sent = 0;
  uint64_t sent_bytes = 0;
  uint64_t refused = 0;
  uint64_t no_buffer = 0;
  uint64_t malformed = 0;
};

inline constexpr std::array kPortCounters = {
    Counter{"received", &PortCounters::received, "packets received, by port"}
        .with_metric("port_received_packets")
        .with_text("received"),
    Counter{"received_bytes", &PortCounters::received_bytes, "bytes of whole frames received"}
        .with_text("bytes", 16),
    Counter{"sent", &PortCounters::sent, "packets sent, by port"}
        .with_metric("port_sent_packets")
        .with_text("sent"),
    Counter{"sent_bytes", &PortCounters::sent_bytes, "bytes of whole frames sent"}.with_text(
        "bytes", 16),
    Counter{"refused", &PortCounters::refused, "packets that the device did not take, freed"},
    Counter{"no_buffer", &PortCounters::no_buffer,
            "frames that were made here, and copies of packets that leave by several ports, for "
            "which there was no buffer"},
    Counter{"malformed", &PortCounters::malformed,
            "packets that the device delivered with lengths that contradict each other, freed"}};
static_assert(lists_all(kPortCounters));

// Those that a port is reported by stand first; what is malformed is reported as a drop.
inline constexpr std::span kReportedPortCounters = std::span(kPortCounters).first<6>();

// Of one worker, and written by it only. What each counts: kHandoffCounters.
struct HandoffCounters {
  uint64_t handoff_out = 0;
  uint64_t handoff_full = 0;
  uint64_t handoff_in = 0;
  uint64_t copies_out = 0;
  uint64_t copies_lost = 0;
  uint64_t copies_in = 0;
};

inline constexpr std::array kHandoffCounters = {
    Counter{"handoff_out", &HandoffCounters::handoff_out, "packets to the workers that own them"}
        .with_text("handoff out"),
    Counter{"handoff_full", &HandoffCounters::handoff_full,
            "packets whose ring to their owner was full, dropped"},
    Counter{"handoff_in", &HandoffCounters::handoff_in, "packets from other workers"}.with_text(
        "handoff in"),
    Counter{"copies_in", &HandoffCounters::copies_in, "copies from other workers"},
    Counter{"copies_lost", &HandoffCounters::copies_lost,
            "copies to other workers that found no room in the ring or no buffer, or came when "
            "this worker had closed"},
    Counter{"copies_out", &HandoffCounters::copies_out,
            "copies to other workers, one for each that gets it"}};
static_assert(lists_all(kHandoffCounters));

// Those that a worker is reported by stand first.
inline constexpr std::span kReportedHandoffCounters = std::span(kHandoffCounters).first<5>();

}  // namespace roost::io
