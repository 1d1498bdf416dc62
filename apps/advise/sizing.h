// How large the tables of a balancer have to be, and what they take: the tables themselves are
// asked, as they are asked when a balancer starts.
#pragma once

#include <array>
#include <cstdint>

#include "apps/advise/timeouts.h"
#include "apps/advise/workload.h"
#include "roost/base/result.h"

namespace roost::advise {

// Of the connections that are expected, so many more fit: for bursts, and for workers that have
// more than their share, because clients are spread by their addresses.
inline constexpr double kHeadroom = 1.25;

struct Sizing {
  double tick_seconds = 1;
  uint64_t held = 0;                       // connections at the peak, those included that are over
  uint64_t connections = 0;                // `[table] connections`: of a family, in a worker
  uint64_t slots = 0;                      // of the table that holds them
  double load = 0;                         // of those slots, at the peak
  std::array<uint64_t, 2> family_bytes{};  // of IPv4 and of IPv6, in a worker
  uint64_t bytes = 0;                      // of all families and workers

  [[nodiscard]] uint64_t bytes_of_worker() const { return family_bytes[0] + family_bytes[1]; }
};

// The shortest tick of those that people use at which a timer can hold the longest timeout.
// Errors: there is none.
[[nodiscard]] Result<double> choose_tick(const TimeoutSeconds& timeouts);

// Connections that a table holds at the peak: the live ones, and those that are over until their
// timeout and a sweep.
[[nodiscard]] uint64_t held_at_peak(const Workload& workload, const TimeoutSeconds& timeouts,
                                    double tick_seconds);

// Errors: timeouts that no tick allows; more connections than tables can have.
[[nodiscard]] Result<Sizing> size_tables(const Workload& workload, const TimeoutSeconds& timeouts);

}  // namespace roost::advise
