// How many connections there were, and what became of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "roost/base/counter.h"

namespace roost::conntrack {

// What each counts: kFlowCounters.
struct FlowCounts {
  uint64_t created = 0;
  uint64_t adopted = 0;
  uint64_t ended = 0;
  uint64_t expired = 0;
  uint64_t deleted = 0;
  uint64_t evicted = 0;
  uint64_t moved = 0;

  // Live ones, and expired ones not reclaimed yet: for Config::pass_ticks at most.
  [[nodiscard]] uint64_t held() const {
    return created + adopted - ended - expired - deleted - evicted - moved;
  }
  FlowCounts& operator+=(const FlowCounts& other);
};

inline constexpr std::array kFlowCounters = {
    Counter{"created", &FlowCounts::created, "connections created"}
        .with_metric("flows_created")
        .with_text("created", 18),
    Counter{"adopted", &FlowCounts::adopted, "connections adopted from another process"}
        .with_metric("flows_adopted")
        .with_text("adopted", 9),
    Counter{"ended", &FlowCounts::ended,
            "TCP connections that were closed, and silent for the closing time or followed by the "
            "next one of their ends"}
        .with_text("ended", 9),
    Counter{"expired", &FlowCounts::expired, "connections that were silent for too long"}.with_text(
        "expired", 9),
    Counter{"deleted", &FlowCounts::deleted, "connections deleted on request"}.with_text("deleted",
                                                                                         6),
    Counter{"evicted", &FlowCounts::evicted,
            "connections that gave way to a new one when all places or ports were taken"}
        .with_text("evicted", 6),
    Counter{"moved", &FlowCounts::moved, "connections that another process adopted"}.with_text(
        "moved", 6)};
static_assert(lists_all(kFlowCounters));

// The ways in which they are over stand behind those created, here or by another process.
inline constexpr std::span kFlowsCreated = std::span(kFlowCounters).first<2>();
inline constexpr std::span kFlowsOver = std::span(kFlowCounters).subspan<2>();

inline FlowCounts& FlowCounts::operator+=(const FlowCounts& other) {
  add_counters<FlowCounts>(kFlowCounters, other, *this);
  return *this;
}

}  // namespace roost::conntrack
