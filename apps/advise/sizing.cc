#include "apps/advise/sizing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/lb/datapath/state.h"
#include "roost/conntrack/tracker_impl.h"

namespace roost::advise {
namespace {

constexpr std::array kTicks = {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 60.0};
constexpr uint64_t kConnectionsMin = 16;  // as `[table] connections` wants it

template <class Address>
Result<uint64_t> family_bytes(const Workload& workload, const Sizing& sizing, bool is_used) {
  using Tracker = typename lb::Family<Address>::Tracker;
  typename Tracker::Config config{.connections = is_used ? sizing.connections : 0,
                                  .tick_seconds = sizing.tick_seconds};
  if (workload.mode == lb::Mode::kFullnat && is_used) config.ports.addresses.resize(1);
  return Tracker::bytes_for(config);
}

// To three digits, so that a configuration reads well.
uint64_t rounded_up(double count) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(count)) - 2));
  return static_cast<uint64_t>(std::ceil(count / unit) * unit);
}

}  // namespace

Result<double> choose_tick(const TimeoutSeconds& timeouts) {
  const double longest = *std::ranges::max_element(timeouts);
  for (const double tick : kTicks)
    if (conntrack::timeout_ticks(longest, tick)) return tick;
  return Error{fmt::format("a timeout of {:g} s is too long; give at most {:g}", longest,
                           kTicks.back() * kTimeoutTicksMax)};
}

uint64_t held_at_peak(const Workload& workload, const TimeoutSeconds& timeouts,
                      double tick_seconds) {
  if (workload.held) return *workload.held;
  const double sweep = std::max(kSweepSeconds, tick_seconds);
  const double tcp_share = 1 - workload.udp_share;
  // Where servers are not seen, neither is their FIN, and their client's does not close.
  const double closed = timeouts[is_dsr(workload.mode) ? kTcpClosing : kTcpClosed];
  const double seconds_held =
      workload.udp_share * (timeouts[kUdp] + sweep) +
      tcp_share * workload.silent_share * (timeouts[kTcpEstablished] + sweep) +
      tcp_share * (1 - workload.silent_share) * (closed + sweep);
  return workload.connections +
         static_cast<uint64_t>(std::ceil(workload.new_per_second * seconds_held));
}

Result<Sizing> size_tables(const Workload& workload, const TimeoutSeconds& timeouts) {
  const Result<double> tick = choose_tick(timeouts);
  if (!tick) return tick.error();
  Sizing sizing{.tick_seconds = tick.value()};
  sizing.held = held_at_peak(workload, timeouts, sizing.tick_seconds);
  const double share = static_cast<double>(sizing.held) / workload.cores;
  sizing.connections = std::max(kConnectionsMin, rounded_up(share * kHeadroom));
  if (sizing.connections > kConnectionsMax)
    return Error{fmt::format(
        "{} connections are held at the peak, and a worker's table has {} at most; give more "
        "cores, or shorter timeouts",
        sizing.held, kConnectionsMax)};
  sizing.slots = workload.has_ipv4()
                     ? lb::ConnectionTable<net::Ipv4Address>::slots_wanted(sizing.connections)
                     : lb::ConnectionTable<net::Ipv6Address>::slots_wanted(sizing.connections);
  sizing.load = share / static_cast<double>(sizing.slots);
  const auto ipv4 = family_bytes<net::Ipv4Address>(workload, sizing, workload.has_ipv4());
  if (!ipv4) return ipv4.error();
  const auto ipv6 = family_bytes<net::Ipv6Address>(workload, sizing, workload.has_ipv6());
  if (!ipv6) return ipv6.error();
  sizing.family_bytes = {ipv4.value(), ipv6.value()};
  sizing.bytes = sizing.bytes_of_worker() * workload.cores;
  return sizing;
}

}  // namespace roost::advise
