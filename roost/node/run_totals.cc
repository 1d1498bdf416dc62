#include "roost/node/run_totals.h"

namespace roost::node {

void add(const RunTotals& from, RunTotals& to) {
  to.ports.resize(from.ports.size());
  for (size_t i = 0; i < from.ports.size(); ++i) {
    add_counters<io::PortCounters>(io::kPortCounters, from.ports[i], to.ports[i]);
  }
  add_counters<FrameCounters>(kFrameCounters, from, to);
  add_counters<TurnCounters>(kTurnCounters, from, to);
  to.drops += from.drops;
  to.cycles += from.cycles;
}

io::PortCounters add_up_ports(RunTotals& totals) {
  io::PortCounters sum;
  for (PortTotals& port : totals.ports) {
    port.received += port.malformed;
    totals.drops[net::DropCause::kTxRefused] += port.refused;
    totals.drops[net::DropCause::kNoBuffer] += port.no_buffer;
    totals.drops[net::DropCause::kMalformed] += port.malformed;
    add_counters<io::PortCounters>(io::kPortCounters, port, sum);
  }
  return sum;
}

}  // namespace roost::node
