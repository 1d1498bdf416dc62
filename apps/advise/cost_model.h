// What a packet is expected to cost on one core, from records of the lab: no figure without one.
//
// cost_points.h has what was measured: the balancer's own datapath in mode `l2dsr` on IPv4, one
// worker, tables at a load of 0.7, by live connections and by packets of each. Between points the
// cost is interpolated: linearly in 1 / packets of each, because a connection's beginning and end
// are shared out over its packets, and linearly in the logarithm of the live connections, because
// levels of the cache lie at powers. nat_points.h has one measured point of mode `nat`; its ratio
// to what this model says of the same point in `l2dsr` is taken to hold everywhere.
//
// Outside of what was measured nothing is extrapolated: the nearest point's figure is given, and
// `outside` says so. What was not measured at all has no figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/advise/workload.h"
#include "roost/base/result.h"

namespace roost::advise {

struct Cost {
  double parsing_ns = 0;  // to receive a packet from memory and parse it
  double state_ns = 0;    // all else: lookup, state, rewriting, expiry
  double ports_ns = 0;    // to receive it from a port and to send it, of rings in memory
  std::vector<std::string> records{};  // with the rows that it comes from, each once
  std::string outside{};               // why it is not between measured points; empty if it is

  [[nodiscard]] double datapath_ns() const { return parsing_ns + state_ns; }
  [[nodiscard]] double packet_ns() const { return datapath_ns() + ports_ns; }
  [[nodiscard]] double packets_per_second() const { return 1e9 / packet_ns(); }
};

// Of a worker with so many live connections of so many packets each. Errors: a mode or a family of
// which there is no record.
[[nodiscard]] Result<Cost> expected_cost(const Workload& workload, uint64_t held_of_worker);

}  // namespace roost::advise
