// Connections through a balancer while something happens to its backends: which of them break.
//
// A connection's first packet chooses its backend. It breaks when a later packet goes elsewhere
// (moved), or when its backend fails, or had failed before it was chosen (failed): it then sends
// nothing more. With a connection table a packet goes where the table says, without one the
// algorithm is asked again.
//
// Time is that of the stream (roost/traffic), so counts do not depend on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/balance/chooser.h"
#include "lab/balance/scenario.h"
#include "roost/base/result.h"

namespace roost::lab {

struct EventRunConfig {
  const ChooserKind* kind = nullptr;
  const Scenario* scenario = nullptr;
  bool has_table = false;
  size_t backends = 0;
  uint64_t connections = 0;    // of the whole stream
  double packets = 10;         // of each connection
  double seconds = 4;          // in which connections begin
  double flow_seconds = 0.2;   // how long one lasts, on average
  uint64_t probes = 1U << 18;  // hashes by which moves are counted
  uint64_t seed = 1;
};

struct EventFigures {
  uint64_t connections = 0;
  uint64_t live = 0;              // at the first event
  uint64_t broken_moved = 0;      // went to another backend than their first, which was up
  uint64_t broken_failed = 0;     // their backend failed, or had
  double live_max_over_mean = 0;  // before the first event, by weight; the mean of samples
  // Of a hash: shares of the probes that changed backends, summed over changes; that had to, by the
  // weights; and that did between two backends neither of which the change was about.
  double moved = 0;
  double moved_min = 0;
  double moved_needlessly = 0;
  double share_max_over_mean = 0;  // of probes, at the beginning
  uint64_t chooser_bytes = 0;
  uint64_t table_bytes = 0;
};

// An error: what cannot be made, a table that is full, or no backend for a connection.
[[nodiscard]] Result<EventFigures> run_events(const EventRunConfig& config);

}  // namespace roost::lab
