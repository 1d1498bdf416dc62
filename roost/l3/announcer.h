// Announces the local addresses: unsolicited advertisements, by which a station whose cache has
// another MAC, of the addresses' previous owner, has this one at once instead of when its entry is
// stale.
//
// IPv4: an ARP announcement, a broadcast request whose sender and target are the address (RFC 5227
// section 3). IPv6: an unsolicited neighbour advertisement to all nodes, with the override flag
// (RFC 4861 section 7.2.6). All addresses, three times, for a frame can be lost; no more than some
// a tick, so that many addresses are no flood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/expiry/tick.h"
#include "roost/l3/interface_table.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// One worker's. It walks over addresses that are the caller's.
class Announcer {
 public:
  struct Config {
    TickCount interval = 1;  // from the begin of a round to that of the next one, at least
    uint32_t frames_a_tick_max = 1000;
  };

  explicit Announcer(const Config& config) : config_(config), tokens_(config.frames_a_tick_max) {}

  // Announces everything from now on, from the beginning.
  void begin() {
    rounds_left_ = kRounds;
    next_ = 0;
  }
  [[nodiscard]] bool is_active() const { return rounds_left_ != 0; }

  // Writes what is due, a bounded piece a call; how many frames. The addresses must be the same in
  // each call since begin().
  uint64_t advance(Tick now, std::span<const LocalAddress> addresses,
                   std::span<const Interface> interfaces, net::Outbox& outbox);

 private:
  static constexpr uint32_t kRounds = 3;
  static constexpr uint32_t kFramesACallMax = 32;  // an outbox has room for more

  [[nodiscard]] bool is_due(Tick now);

  Config config_;
  uint32_t rounds_left_ = 0;
  size_t next_ = 0;     // of the addresses
  Tick round_began_{};  // of rounds but the first one's
  uint32_t tokens_;
  Tick refilled_at_{};
};

}  // namespace roost::l3
