// What the advice is for: how many connections, how often they begin, how many packets.
//
// Operators know three numbers of their network: connections that are alive at a time, those that
// begin in a second, and packets. A connection is alive from its first packet to its last one; for
// how long a table holds it beyond that, its timeouts say (timeouts.h).
#pragma once

#include <cstdint>
#include <optional>

#include "apps/lb/config/config.h"
#include "apps/lb/config/mode.h"
#include "roost/base/result.h"

namespace roost::advise {

inline constexpr uint64_t kConnectionsMax = lb::TableConfig::kConnectionsMax;

enum class Families : uint8_t { kIpv4, kIpv6, kBoth };

struct Workload {
  uint64_t connections = 0;       // alive at once, at the peak
  double new_per_second = 0;      // that begin, at the peak
  double packets_per_second = 0;  // at the peak
  uint32_t cores = 1;             // each for one worker
  Families families = Families::kIpv4;
  lb::Mode mode = lb::Mode::kNat;
  double udp_share = 0;     // of the connections
  double silent_share = 0;  // of TCP's: those that end without FIN or RST
  // Packets of a connection, if that is known better than by the rates.
  std::optional<double> packets_each{};
  // Connections that the table holds at the peak, if that was counted: over all families.
  std::optional<uint64_t> held{};

  [[nodiscard]] bool has_ipv4() const { return families != Families::kIpv6; }
  [[nodiscard]] bool has_ipv6() const { return families != Families::kIpv4; }
  // Infinite where no connection begins.
  [[nodiscard]] double packets_of_each() const {
    return packets_each.value_or(packets_per_second / new_per_second);
  }
};

// Why there can be no advice: numbers that are out of range, or that contradict each other.
[[nodiscard]] std::optional<Error> refuse(const Workload& workload);

}  // namespace roost::advise
