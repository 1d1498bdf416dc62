// What a worker counts of its own work. Runs have their sums.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "roost/base/counter.h"

namespace roost::node {

// Of packets and frames, besides ports and drops. What each counts: kFrameCounters.
struct FrameCounters {
  uint64_t originated = 0;
  uint64_t replicated = 0;
  uint64_t consumed = 0;
};

inline constexpr std::array kFrameCounters = {
    Counter{"originated", &FrameCounters::originated, "frames that the {} made itself"}
        .with_metric("originated_packets")
        .with_text("of the {}'s own among those sent"),
    Counter{"replicated", &FrameCounters::replicated,
            "packets beyond the first, of those that left by several ports"}
        .with_metric("replicated_packets")
        .with_text("of those sent are replicas: their packets left by several ports"),
    Counter{"consumed", &FrameCounters::consumed, "packets that were for the {} itself"}
        .with_metric("consumed_packets")
        .with_text("received were for itself")};
static_assert(lists_all(kFrameCounters));

// Of a worker's turns. Times are read about once a second.
struct TurnCounters {
  uint64_t batches = 0;
  uint64_t pauses = 0;
  uint64_t run_microseconds = 0;
  uint64_t cpu_microseconds = 0;

  // How much of a core the worker took, 0 to 1.
  [[nodiscard]] double cpu_share() const {
    if (run_microseconds == 0) return 0;
    return static_cast<double>(cpu_microseconds) / static_cast<double>(run_microseconds);
  }
};

inline constexpr std::array kTurnCounters = {
    Counter{"batches", &TurnCounters::batches, "batches that held a packet"}.with_metric(
        "worker_batches"),
    Counter{"pauses", &TurnCounters::pauses, "times that it slept, nothing having come"}
        .with_metric("worker_pauses"),
    Counter{"run_microseconds", &TurnCounters::run_microseconds, "time that it has run"}
        .with_metric("worker_run_microseconds"),
    Counter{"cpu_microseconds", &TurnCounters::cpu_microseconds,
            "time of a processor that it took meanwhile"}
        .with_metric("worker_cpu_microseconds")};
static_assert(lists_all(kTurnCounters));

}  // namespace roost::node
