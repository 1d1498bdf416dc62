// A worker as control threads know it. What it points to is the worker's: only requests look at it,
// which the worker runs between two batches (roost/node/mailbox.h).
#pragma once

#include <cstdint>
#include <functional>

#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/local_delivery.h"
#include "roost/l3/next_hops.h"
#include "roost/node/run_totals.h"

namespace roost::control {

// Writes a worker's and its ports' counters into totals that have the ports already. It runs on the
// worker's thread and allocates nothing.
using ReadTotals = std::function<void(node::RunTotals&)>;

struct WorkerHandle {
  l3::NextHops* next_hops = nullptr;
  const l3::IcmpErrorCounters* icmp_errors = nullptr;
  const l3::LocalCounters* local = nullptr;
  ReadTotals read_totals{};
  unsigned core = 0;
};

// Of a function's state, which has these three.
template <class State>
[[nodiscard]] WorkerHandle worker_handle(State& state, ReadTotals read_totals, unsigned core = 0) {
  return {&state.next_hops(), &state.icmp_errors(), &state.local_counters(), std::move(read_totals),
          core};
}

}  // namespace roost::control
