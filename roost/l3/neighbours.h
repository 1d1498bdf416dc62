// One worker's neighbour cache (RFC 4861): which address has which MAC, solicited when traffic
// needs it and kept fresh. A state machine over messages and ticks; its frames go into an outbox.
// No threads, no I/O.
//
//   kUnknown     used: solicit by multicast   -> kIncomplete
//   kIncomplete  advertised                   -> kReachable, and what waited leaves
//                solicited three times        -> kFailed, and what waited is lost
//   kReachable   its time is over             -> kStale
//   kStale       used: goes out, probe it     -> kProbe
//   kProbe       advertised                   -> kReachable
//                solicited once by unicast, twice by multicast -> kFailed
//   kFailed      used after a pause: solicit  -> kIncomplete
//   kLearned     as kStale; learned from its solicitation, and not needed yet
//
// These are RFC 4861 section 7.3's, for ARP as well, with two differences. A stale entry that is
// used is probed at once, for no upper layer confirms that it is reachable. And an entry that was
// confirmed gets another MAC only when its owner is silent: a claim of another MAC (gratuitous ARP,
// an unsolicited advertisement, another's solicitation) triggers a unicast probe of the known
// owner. Only if it is silent follows a solicitation by multicast, and its advertisement is taken.
// That follows a failover within two retransmission times; a spoofed claim changes nothing while
// the owner replies to probes.
//
// What other stations can cause is bounded: entries (learned ones never push out others),
// solicitations a tick, frames that wait for one neighbour and for all. A frame that finds its
// queue full is refused (RFC 4861 section 7.2.2 would push out the oldest), so that a drop has its
// cause at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/l3/announcer.h"
#include "roost/l3/interface_table.h"
#include "roost/l3/neighbour_table.h"
#include "roost/l3/waiting_frames.h"
#include "roost/net/arp.h"
#include "roost/net/neighbour_discovery.h"
#include "roost/net/outbox.h"

namespace roost::l3 {

// RFC 4861 section 10's, and how long an unused entry is kept.
struct NeighbourTicks {
  TickCount reachable = 30;   // a confirmation is good for
  TickCount retransmit = 1;   // from solicitation to solicitation
  TickCount pause = 1;        // after failing, before soliciting again
  TickCount forgotten = 600;  // without being needed
  TickCount announce = 1;     // from an unsolicited advertisement to its repetition

  // 30 seconds, 1, 1, 600 and 1, each rounded up.
  static NeighbourTicks of_seconds(double tick_seconds);
};

// What each counts: kNeighbourCounters.
struct NeighbourCounters {
  uint64_t solicitations_sent = 0;
  uint64_t solicitations_deferred = 0;
  uint64_t advertisements_sent = 0;
  uint64_t advertisements_lost = 0;
  uint64_t unsolicited_sent = 0;
  uint64_t confirmed = 0;
  uint64_t mac_changes = 0;
  uint64_t learned = 0;
  uint64_t unsolicited_ignored = 0;
  uint64_t unsolicited_probed = 0;
  uint64_t conflicts = 0;
  uint64_t ignored_full = 0;
  uint64_t refused_full = 0;
  uint64_t evicted = 0;
  uint64_t forgotten = 0;
  uint64_t failed = 0;
  uint64_t waited = 0;
  uint64_t released = 0;
  uint64_t lost_failed = 0;
  uint64_t lost_evicted = 0;
  uint64_t lost_no_room = 0;
};

inline constexpr std::array kNeighbourCounters = {
    Counter{"solicitations_sent", &NeighbourCounters::solicitations_sent, "solicitations sent"}
        .with_text("solicitations sent"),
    Counter{"solicitations_deferred", &NeighbourCounters::solicitations_deferred,
            "solicitations not sent yet: too many in a tick, or no room in the outbox"},
    Counter{"advertisements_sent", &NeighbourCounters::advertisements_sent,
            "advertisements sent in reply to solicitations"}
        .with_text("advertisements sent"),
    Counter{"advertisements_lost", &NeighbourCounters::advertisements_lost,
            "advertisements in reply that found no room in the outbox"},
    Counter{"unsolicited_sent", &NeighbourCounters::unsolicited_sent,
            "unsolicited advertisements of own addresses sent"},
    Counter{"confirmed", &NeighbourCounters::confirmed,
            "neighbours confirmed by a solicited advertisement"},
    Counter{"mac_changes", &NeighbourCounters::mac_changes,
            "confirmations that brought another MAC"},
    Counter{"learned", &NeighbourCounters::learned,
            "entries created by a solicitation of one of our addresses"},
    Counter{"unsolicited_ignored", &NeighbourCounters::unsolicited_ignored,
            "unsolicited advertisements that changed nothing"},
    Counter{"unsolicited_probed", &NeighbourCounters::unsolicited_probed,
            "unsolicited messages with another MAC, each the cause of a probe"},
    Counter{"conflicts", &NeighbourCounters::conflicts, "messages that claim an own address"},
    Counter{"ignored_full", &NeighbourCounters::ignored_full,
            "solicitations whose sender was not learned: no room"},
    Counter{"refused_full", &NeighbourCounters::refused_full,
            "neighbours that were needed and found no room"},
    Counter{"evicted", &NeighbourCounters::evicted, "entries that made room for others"},
    Counter{"forgotten", &NeighbourCounters::forgotten,
            "entries that nobody needed for ten minutes"},
    Counter{"failed", &NeighbourCounters::failed, "neighbours that sent no advertisement"}
        .with_text("failed"),
    Counter{"waited", &NeighbourCounters::waited,
            "packets that waited for their neighbour; waited = released + lost + waiting now"}
        .with_text("packets waited"),
    Counter{"released", &NeighbourCounters::released,
            "waiting packets transmitted when the neighbour was reachable"},
    Counter{"lost_failed", &NeighbourCounters::lost_failed,
            "waiting packets whose neighbour failed"},
    Counter{"lost_evicted", &NeighbourCounters::lost_evicted,
            "waiting packets whose entry made room for another"},
    Counter{"lost_no_room", &NeighbourCounters::lost_no_room,
            "waiting packets that found no room in the outbox when the neighbour was reachable"}};
static_assert(lists_all(kNeighbourCounters));

// What happened to neighbours stands first, then what became of the packets that waited for them,
// and of these last what was lost.
inline constexpr std::span kNeighbourEvents = std::span(kNeighbourCounters).first<16>();
inline constexpr std::span kNeighbourPackets = std::span(kNeighbourCounters).subspan<16>();
inline constexpr std::span kNeighbourLosses = std::span(kNeighbourCounters).last<3>();

// What becomes of a frame for a neighbour.
enum class Way : uint8_t {
  kKnown,      // it can leave, to mac()
  kWaits,      // give it to keep(); it was solicited
  kQueueFull,  // as many wait as may, or it is too long to wait
  kFailed,     // no advertisement came
};

class Neighbours {
 public:
  struct Config {
    uint32_t pinned_count_max = 0;  // that pin() and pin_static() will be called for
    uint32_t dynamic_count_max = 4096;
    uint32_t solicitations_a_tick_max = 1000;
    uint32_t unsolicited_a_tick_max = 1000;
    uint32_t waiting_each_max = 16;
    WaitingFrames::Config waiting{};
    NeighbourTicks ticks{};
    std::optional<uint64_t> hash_seed{};
  };

  // The interfaces stay the caller's and where they are. Refused: no memory.
  static Result<Neighbours> create(const Config& config, std::span<const Interface> interfaces,
                                   std::vector<LocalAddress> local);

  // A neighbour with a static MAC; without an address, a gateway that is never looked up.
  NeighbourIndex pin_static(uint16_t port, const std::optional<net::IpAddress>& address,
                            const net::MacAddress& mac);
  // A neighbour that is never removed: a gateway, a backend. The same index for the same address.
  NeighbourIndex pin(uint16_t port, const net::IpAddress& address);

  // kNoNeighbour when there is none with this address.
  [[nodiscard]] NeighbourIndex find(uint16_t port, const net::IpAddress& address) {
    return table_.find(port, address);
  }
  // The neighbour's index, created if need be; kNoNeighbour when there is no room.
  NeighbourIndex find_or_make(uint16_t port, const net::IpAddress& address, Tick now);
  // Whether an index that was kept is still this address's, or a pinned one.
  template <class Address>
  [[nodiscard]] bool is_still(NeighbourIndex index, const Address& address) const {
    const NeighbourEntry& entry = table_.entry(index);
    return entry.is_pinned || entry.address == net::IpAddress(address);
  }

  // A frame of this many bytes is to be transmitted. Solicits if nothing is known, probes what is
  // stale.
  Way use(NeighbourIndex index, size_t frame_bytes, Tick now, net::Outbox& outbox) {
    const NeighbourState state = table_.entry(index).state;
    const bool is_known = state == NeighbourState::kStatic || state == NeighbourState::kReachable;
    return is_known ? Way::kKnown : use_unsure(index, frame_bytes, now, outbox);
  }
  // After Way::kKnown.
  [[nodiscard]] const net::MacAddress& mac(NeighbourIndex index) const {
    return table_.entry(index).mac;
  }
  // After Way::kWaits: keeps a copy of the whole frame, whose destination MAC is filled in when it
  // leaves.
  void keep(NeighbourIndex index, std::span<const uint8_t> frame);

  [[nodiscard]] uint16_t port(NeighbourIndex index) const { return table_.entry(index).port; }

  // A message received on this port, in a frame from this MAC.
  void receive(uint16_t port, const net::ArpMessage& message, Tick now, net::Outbox& outbox);
  void receive(uint16_t port, const net::NeighbourMessage& message, const net::MacAddress& from,
               Tick now, net::Outbox& outbox);

  // Announces the local addresses to their networks, from the next advance() on: announcer.h.
  void announce() { announcer_.begin(); }

  // Advertises, solicits again, fails, removes: what is due, at most `budget` entries.
  void advance(Tick now, net::Outbox& outbox, uint64_t budget);

  // These, which are sorted, are the local addresses from now on; those before are in `local`
  // afterwards. What is being announced begins anew.
  void exchange_local(std::vector<LocalAddress>& local) {
    local_.swap(local);
    if (announcer_.is_active()) announcer_.begin();
  }
  // These, and the port's link-local address.
  [[nodiscard]] bool is_local(uint16_t port, const net::IpAddress& address) const;
  [[nodiscard]] const NeighbourCounters& counters() const { return counters_; }
  [[nodiscard]] uint32_t waiting_count() const { return waiting_.frame_count(); }
  // For listings; entries with is_free are not there.
  [[nodiscard]] const NeighbourTable& table() const { return table_; }
  // The table's, and the sum of the frames that waited.
  [[nodiscard]] bool audit();

 private:
  enum class MessageKind : uint8_t { kSolicited, kSolicitation, kUnsolicited };
  // use(), where a solicitation may be due.
  Way use_unsure(NeighbourIndex index, size_t frame_bytes, Tick now, net::Outbox& outbox);
  // What a message says of an address's MAC.
  struct MacClaim {
    uint16_t port = 0;
    net::IpAddress address{};
    std::optional<net::MacAddress> mac{};
    MessageKind kind = MessageKind::kUnsolicited;
    bool overrides = true;
  };

  Neighbours(const Config& config, std::span<const Interface> interfaces,
             std::vector<LocalAddress> local, NeighbourTable table)
      : config_(config),
        interfaces_(interfaces),
        local_(std::move(local)),
        table_(std::move(table)),
        waiting_(config.waiting),
        announcer_({.interval = config.ticks.announce,
                    .frames_a_tick_max = config.unsolicited_a_tick_max}),
        solicitation_tokens_(config.solicitations_a_tick_max) {}

  void consider(const MacClaim& claim, Tick now, net::Outbox& outbox);
  void consider_confirmed(NeighbourIndex index, const MacClaim& claim, Tick now,
                          net::Outbox& outbox);
  void learn(const MacClaim& claim, Tick now);
  void confirm(NeighbourIndex index, const MacClaim& claim, Tick now, net::Outbox& outbox);
  void enter_unconfirmed(NeighbourIndex index, const MacClaim& claim, Tick now,
                         net::Outbox& outbox);
  void probe(NeighbourIndex index, Tick now, net::Outbox& outbox);
  void solicit_again_or_fail(NeighbourIndex index, Tick now, net::Outbox& outbox);
  void solicit(NeighbourIndex index, bool is_multicast, Tick now, net::Outbox& outbox);
  void release(NeighbourIndex index, net::Outbox& outbox);
  void lose(NeighbourIndex index, uint64_t& counter);
  enum class Room : uint8_t { kForNeeded, kForLearned };
  [[nodiscard]] bool make_room(Room room);
  bool advance_one(NeighbourState state, TickCount after, Tick now, net::Outbox& outbox);
  void refill(Tick now);

  Config config_;
  std::span<const Interface> interfaces_;
  std::vector<LocalAddress> local_;  // sorted
  NeighbourTable table_;
  WaitingFrames waiting_;
  Announcer announcer_;
  uint64_t solicitation_tokens_;
  Tick refilled_at_{};
  std::optional<Tick> advanced_at_{};  // nothing more is due at this tick
  NeighbourCounters counters_;
};

}  // namespace roost::l3
