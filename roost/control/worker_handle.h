// A worker as control threads know it. What it points to is the worker's: only requests look at it,
// which the worker runs between two batches (roost/node/mailbox.h).
#pragma once

#include <functional>
#include <utility>

#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/local_delivery.h"
#include "roost/l3/next_hops.h"
#include "roost/node/run_totals.h"

namespace roost::control {

// Writes a worker's and its ports' counters into totals that have the ports already. It runs on the
// worker's thread and allocates nothing.
using ReadTotals = std::function<void(node::RunTotals&)>;

struct WorkerHandle {
  // Of a function with a network layer, else null.
  l3::NextHops* next_hops = nullptr;
  const l3::IcmpErrorCounters* icmp_errors = nullptr;
  const l3::LocalCounters* local = nullptr;
  ReadTotals read_totals{};
  unsigned core = 0;
};

// The state of a function that routes, has addresses and asks for neighbours.
template <class State>
concept HasNetworkLayer = requires(State& state) {
  state.next_hops();
  state.icmp_errors();
  state.local_counters();
};

template <class State>
[[nodiscard]] WorkerHandle worker_handle(State& state, ReadTotals read_totals, unsigned core = 0) {
  WorkerHandle handle{.read_totals = std::move(read_totals), .core = core};
  if constexpr (HasNetworkLayer<State>) {
    handle.next_hops = &state.next_hops();
    handle.icmp_errors = &state.icmp_errors();
    handle.local = &state.local_counters();
  }
  return handle;
}

}  // namespace roost::control
