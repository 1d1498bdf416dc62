// Every number of a worker that all functions have, in one step. A function's own request adds its
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/control/run_report.h"
#include "roost/control/worker_handle.h"
#include "roost/node/mailbox.h"

namespace roost::control {

class SampleRequest : public node::Request {
 public:
  // All memory is allocated here, on the requesting thread. The handle must outlive the request.
  SampleRequest(const WorkerHandle& worker, size_t port_count) : worker_(worker) {
    totals.ports.resize(port_count);
  }
  bool step() override {
    read();
    return true;
  }

  node::RunTotals totals;
  l3::IcmpErrorCounters icmp_errors;
  NeighbourReport neighbours;
  l3::LocalCounters local;

 protected:
  void read() {
    worker_.read_totals(totals);
    if (worker_.next_hops == nullptr) return;
    icmp_errors = *worker_.icmp_errors;
    neighbours = report_neighbours(*worker_.next_hops);
    local = *worker_.local;
  }

 private:
  const WorkerHandle& worker_;
};

// What a worker answered, into the report of all of them; the ports are added up afterwards
// (add_up_ports).
inline void add(const SampleRequest& request, RunReport& report) {
  node::add(request.totals, report.run);
  report.running.push_back(request.totals);
  add_counters<l3::IcmpErrorCounters>(l3::kIcmpErrorCounters, request.icmp_errors,
                                      report.icmp_errors);
  report.neighbours += request.neighbours;
  add_counters<l3::LocalCounters>(l3::kLocalCounters, request.local, report);
}

}  // namespace roost::control
