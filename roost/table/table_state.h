// What the writer of a table keeps of it beside the buckets: counts, time, and where its sweeps
// stand. It lies in the table's image (image_header.h), in cache lines that lookups do not read;
// what they read has one of its own.
#pragma once

#include <cstdint>
#include <type_traits>

#include "roost/expiry/tick.h"
#include "roost/table/overflow_scan.h"
#include "roost/table/settling.h"
#include "roost/table/table_stats.h"

namespace roost {

struct TableState {
  TableStats stats;
  Tick now;
  OverflowScan scan;
  Settling settling;
  uint64_t departures_at_refusal = ~uint64_t{0};  // none yet

  // Entries that were erased or expired: every way of leaving the table is one of the two.
  [[nodiscard]] uint64_t departures() const { return stats.erased + stats.expired; }

  // Read by lookups that miss: 1 while entries are in the stash.
  alignas(64) uint64_t has_stashed = 0;
};

static_assert(std::is_trivially_copyable_v<TableState>, "another process finds it in the image");

}  // namespace roost
