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

struct BatchCounters {
  uint64_t batches = 0;
};

inline constexpr std::array kBatchCounters = {
    Counter{"batches", &BatchCounters::batches, "batches that held a packet"}.with_metric(
        "worker_batches")};
static_assert(lists_all(kBatchCounters));

}  // namespace roost::node
