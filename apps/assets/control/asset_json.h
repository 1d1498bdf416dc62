// Hosts and services as JSON: rows of `roost ctl assets`, and lines of the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "roost/assets/observer.h"
#include "roost/control/json.h"

namespace roost::assets {

// What time it is at a tick. Those of replays count from 1970, those of live ports from the start.
class TickTime {
 public:
  TickTime(uint64_t tick_microseconds, bool is_replay)
      : tick_microseconds_(tick_microseconds),
        start_(is_replay ? Point()
                         : std::chrono::floor<std::chrono::microseconds>(
                               std::chrono::system_clock::now())) {}
  // ISO 8601, in UTC, to the second: "2026-11-27T20:01:02Z".
  [[nodiscard]] std::string text(Tick tick) const;

 private:
  using Point = std::chrono::sys_time<std::chrono::microseconds>;

  uint64_t tick_microseconds_;
  Point start_;
};

// vlan, inner_vlan if there is one, mac, address.
[[nodiscard]] control::Json host_json(const HostKey& host);
// The same, then first_seen, last_seen, syn if there was one, and services.
[[nodiscard]] control::Json host_json(const Host& host, std::span<const Service> services,
                                      const TickTime& time);
[[nodiscard]] std::string protocol_name(net::IpProtocol protocol);

}  // namespace roost::assets
