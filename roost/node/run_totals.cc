#include "roost/node/run_totals.h"

namespace roost::node {

void add(const RunTotals& from, RunTotals& to) {
  to.ports.resize(from.ports.size());
  for (size_t i = 0; i < from.ports.size(); ++i) add_port(from.ports[i], to.ports[i]);
  to.drops += from.drops;
  to.originated += from.originated;
  to.replicated += from.replicated;
  to.consumed += from.consumed;
  to.batches += from.batches;
  to.cycles += from.cycles;
}

PortSums add_up_ports(RunTotals& totals) {
  PortSums sums;
  for (const PortTotals& port : totals.ports) {
    sums.received += port.received + port.malformed;
    sums.received_bytes += port.received_bytes;
    sums.sent += port.sent;
    sums.sent_bytes += port.sent_bytes;
    totals.drops[net::DropCause::kTxRefused] += port.refused;
    totals.drops[net::DropCause::kNoBuffer] += port.no_buffer;
    totals.drops[net::DropCause::kMalformed] += port.malformed;
  }
  return sums;
}

}  // namespace roost::node
