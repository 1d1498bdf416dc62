// Moves a flow table's time forward, however far, where FlowTable::advance() relies on sweeps in
// time.
#pragma once

#include "roost/base/assert.h"
#include "roost/expiry/slot_timers.h"
#include "roost/table/table_core.h"

namespace roost {

// Timers wrap after 65,536 ticks, and the table wants to have swept itself in time. When time jumps
// further than the last sweep allows, sweep at the old time, which moves the deadline; if that is
// not enough, nothing that is in the table can be live at the new time, and all of it is
// reclaimed as soon as the longest timeout has passed. Usually constant time, then linear in the
// capacity. `now` must not lie in the past.
template <class Table>
void advance_far(Table& table, Tick now) {
  const auto sweep = [&] { table.maintain(table.bucket_count()); };
  if (table.size() != 0 && now > table.scan_deadline()) {
    sweep();  // ends the pass that was under way
    sweep();  // and a whole one from now on
    if (now > table.scan_deadline()) {
      table.advance(Tick{table.now().count + kTimeoutTicksMax + 1});
      sweep();
    }
  }
  const AdvanceOutcome outcome = table.advance(now);
  ROOST_ASSERT(outcome == AdvanceOutcome::kAdvanced);
}

}  // namespace roost
