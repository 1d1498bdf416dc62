// A worker as control threads know it. What it points to is the worker's: only requests look at it,
// which the worker runs between two batches (roost/node/mailbox.h).
#pragma once

#include <functional>

#include "roost/l3/next_hops.h"
#include "roost/node/run_totals.h"

namespace roost::control {

// How a worker tells what it and its ports did, into totals whose ports are there already. It runs
// on the worker's thread and allocates nothing.
using ReadTotals = std::function<void(node::RunTotals&)>;

struct WorkerHandle {
  const l3::NextHops* next_hops = nullptr;
  ReadTotals read_totals{};
  unsigned core = 0;
};

}  // namespace roost::control
