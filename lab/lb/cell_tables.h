// The cells of cell_job.h by name: their tables and expiries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/lb/cell.h"
#include "roost/base/result.h"

namespace roost::lab {

// What all cells are made with.
struct CellSetup {
  std::string mode;
  uint64_t connections = 0;             // of each worker
  double established_seconds = 3;       // a connection's timeouts
  std::optional<double> syn_seconds{};  // else as established
  double closed_seconds = 0.5;
  double tick_seconds = 1;
  double scan_share = 0;  // RecordTables', of each period
  double scan_period_seconds = 0;
  uint64_t hash_seed = 1;
  bool both_ends = false;
  bool has_upkeep = true;
  size_t worker_count = 1;
};

inline constexpr std::string_view kRawCell = "raw_parse";

// "raw_parse"; "slot_timers", our table as it ships; "slot_timers lazy", the same without sweeps:
// an insert takes an expired slot; "slot_timers last_seen", lazy by the tick of the last lookup
// (last_seen.h); a table of stores.h and an expiry, as "rte_hash wheel"; a table of
// common_values.h, as "common rte_hash LF", whose records expire by a wheel. With "none" timeouts
// are as long as can be, and nothing is looked for.
[[nodiscard]] std::vector<std::string> cell_names();
// Whether all its connections have the same timeout, closed ones too, and live on by any packet. By
// the tracker's rule only assured ones do, so such a cell keeps some longer than the others.
[[nodiscard]] inline bool has_one_timeout(std::string_view name) {
  return name.ends_with(" last_seen");
}
// Whether connections end in a cell of this name, as they do in all others.
[[nodiscard]] inline bool do_connections_end(std::string_view name) {
  return name != kRawCell && !name.ends_with(" none");
}

// The cells of that name, one a worker. Errors: there is none of that name; its tables cannot be
// made.
[[nodiscard]] Result<std::vector<std::unique_ptr<Cell>>> make_cells(std::string_view name,
                                                                    const CellSetup& setup);

}  // namespace roost::lab
