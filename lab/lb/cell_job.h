// Times a load balancer's datapath on connections that begin, send and end, over different tables
// and mechanisms of expiry: the cells of a comparison of connection trackers (CT-F1 ... CT-F6).
//
// Packets are synthetic, a traffic::ConnectionStream. Frames come from memory and time is the
// stream's own, so that all cells see the same packets at the same ticks; at the end they must have
// forwarded, created and kept the same (but see has_one_timeout()). What is timed is a batch
// through the datapath and its turn of maintenance, as a worker does it; building frames is not.
// Cells take turns, a stretch of packets each.
//
// Of several workers each has connections of its own; each round is timed on the first one alone,
// then on all. Each has tables of its own, too (sharding), or all have one table and each its own
// records (common).
//
// In `l2dsr` clients send every packet, and a connection is one entry. In `nat` every
// other packet is the backend's, and a connection has a second entry for these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/jobs/job.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"
#include "roost/traffic/connection_stream.h"

namespace roost::lab {

inline constexpr double kOfferedShare = 0.7;

struct CellJobConfig {
  std::string experiment;
  std::vector<std::string> cells;  // by name (cell_tables.h)
  std::string mode = "l2dsr";
  uint64_t connections = 0;  // that the tables take, of all workers
  traffic::ConnectionStream::Config stream{};
  double tick_seconds = 0.1;
  double established_seconds = 3;  // a connection's timeouts
  double closed_seconds = 0.5;
  // Of table_scan: what share of the places it looks at, all at once, every period. Without a
  // period it goes by the tracker's pace, after each batch.
  double scan_share = 0;
  double scan_period_seconds = 0;
  uint64_t warm_up_packets = 0;  // of each worker
  uint64_t packets = 0;          // of a stretch, of each worker
  unsigned rounds = 1;
  PageKind pages = PageKind::kSmall;
  std::vector<int> cores;  // a worker each
};

// Rows: nanoseconds a packet by round, of all workers together; quantiles of a batch; counts and
// bytes at the end; and, emulated (backlog.h), what a ring would have lost of packets that come at
// kOfferedShare of what the fastest cell took before the first round. The stream may end before the
// last round.
[[nodiscard]] Result<Rows> run_cell_job(const CellJobConfig& config, const Progress& progress);

}  // namespace roost::lab
