// Which flow a fragment belongs to that carries no ports: the one of its datagram's first fragment.
//
// An entry a datagram, found by addresses, protocol and identification; it has the ports once the
// first fragment was seen, and which parts of the datagram were. Nothing is put together: every
// fragment goes on by itself.
//
// Networks reorder, above all where a router spreads packets by their ports, which later fragments
// have not. So a fragment that comes before its first one waits: its bytes are kept, for a short
// time, in a bounded number of places.
//
// A part that was there already is dropped; a fragment that overlaps another one, or reaches beyond
// the end, makes the datagram bad, and nothing of it passes any more (RFC 5722, RFC 1858).
//
// A datagram's entry is removed with its last missing part. So the room is for those that miss one,
// and senders may use an identification again, as IPv4's with 16 bits must. When there are too
// many, the one that began first is evicted; when all places are taken, the one whose fragment has
// waited longest. A first fragment goes on whatever there is room for.
//
// I1 A place is free, or in the list of exactly one entry that has no ports yet, or released.
// I2 waited = released + expired + waiting.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/net/flow_key.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/table/advance_far.h"
#include "roost/table/flow_table.h"

namespace roost::conntrack {

// What each counts: kFragmentCounters.
struct FragmentCounters {
  uint64_t followed = 0;
  uint64_t waited = 0;
  uint64_t released = 0;
  uint64_t expired = 0;
};

inline constexpr std::array kFragmentCounters = {
    Counter{"followed", &FragmentCounters::followed,
            "later fragments that found the flow of their first one"},
    Counter{"waited", &FragmentCounters::waited,
            "fragments that came before their first one; waited = released + expired + waiting"},
    Counter{"released", &FragmentCounters::released,
            "waiting fragments that left when their first one came"},
    Counter{"expired", &FragmentCounters::expired,
            "waiting fragments whose first one did not come, or that gave way to others"}};
static_assert(lists_all(kFragmentCounters));

// A part of a datagram, in units of 8 bytes.
struct FragmentRange {
  uint16_t begin = 0;
  uint16_t end = 0;
};

// What is known of a datagram.
struct Datagram {
  static constexpr size_t kRangesMax = 8;
  static constexpr uint16_t kNone = 0xffff;

  uint64_t number = 0;  // of all datagrams, in the order in which they began
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint16_t end = 0;          // in units of 8 bytes, rounded up; 0: not known yet
  uint16_t waiting = kNone;  // the first place in the list
  net::IpProtocol protocol{};
  bool has_ports = false;
  bool is_bad = false;
  uint8_t range_count = 0;
  std::array<FragmentRange, kRangesMax> ranges{};  // apart from each other, in order

  [[nodiscard]] bool is_complete() const {
    return end != 0 && range_count == 1 && ranges[0].begin == 0 && ranges[0].end == end;
  }
};

enum class PartVerdict : uint8_t {
  kNew,       // noted
  kRepeated,  // all of it was there already
  kBad,       // it overlaps, or lies beyond the end: the datagram is bad from now on
  kTooMany,   // it lies apart from all others, and there is no room for one more
};

// Notes a part of a datagram.
[[nodiscard]] PartVerdict note_part(Datagram& datagram, const net::Fragment& fragment);

// One worker's, of one family.
template <class Address>
class FragmentTable {
 public:
  using Key = net::FlowKey<Address>;

  struct Config {
    uint64_t datagrams_max = 4'096;  // known at a time
    uint16_t places = 256;           // fragments that wait
    double tick_seconds = 1;
    std::optional<uint64_t> hash_seed{};
  };
  // A fragment that waited, as it came. Its bytes are valid until the next call that is not
  // take_released().
  struct Waited {
    net::Packet packet{};
    net::ParsedPacket parsed{};
  };

  static Result<FragmentTable> create(const Config& config);

  // What becomes of a packet that parsed as kFragment. Nothing: it goes on, and `parsed` has its
  // ports and its protocol now. Consumed: it waits. Else it is dropped.
  [[nodiscard]] std::optional<net::LaneVerdict> place(const net::Packet& packet,
                                                      net::ParsedPacket& parsed);

  // The next of the fragments whose first one has come, ports and protocol in `parsed`; nothing
  // when there is none.
  [[nodiscard]] std::optional<Waited> take_released();

  // Moves time forward, however far.
  void advance(Tick now) { advance_far(table_, now); }
  // Reclaims what has expired among the next buckets; costs nothing while there are no fragments.
  void maintain(uint64_t bucket_budget) {
    if (table_.size() != 0) table_.maintain(bucket_budget);
  }

  [[nodiscard]] const FragmentCounters& counters() const { return shared_->counters; }
  [[nodiscard]] uint64_t waiting_count() const { return shared_->waiting_count; }

  // What it takes: the table, and the places for fragments that wait.
  [[nodiscard]] uint64_t memory_bytes() const {
    return table_.memory_bytes() + list_bytes(datagrams_max_, shared_->places.size());
  }
  // The same of one of this configuration, before there is one.
  [[nodiscard]] static Result<uint64_t> bytes_for(const Config& config);

 private:
  static constexpr uint32_t kPlaceBytes = 2'048;
  // For the tags that the way out may add, and the header of IPv6 instead of IPv4's.
  static constexpr uint32_t kHeadroom = 64;

  struct Place {
    uint16_t next = Datagram::kNone;
    uint16_t in_port = 0;
    uint32_t bytes = 0;
    net::ParsedPacket parsed{};
    Key datagram{};
  };
  static constexpr uint64_t kNotWaiting = UINT64_MAX;
  // At a fixed place, because the eviction callback points to it.
  struct Shared {
    std::vector<Place> places;
    std::vector<uint64_t> arrivals;  // of waiting fragments by place: their numbers among all
    std::vector<uint8_t> bytes;
    uint16_t free = 0;                    // the first place in the list of free ones
    uint16_t released = Datagram::kNone;  // the first in the list of released ones
    uint16_t taken = Datagram::kNone;     // handed out by take_released()
    uint64_t waiting_count = 0;
    FragmentCounters counters{};

    void give_back(uint16_t place) { places[place].next = std::exchange(free, place); }
    // What waits for the datagram's first fragment waits in vain.
    void give_up_waiting(const Datagram& datagram);
  };
  struct Forget {
    Shared* shared = nullptr;
    void operator()(const Key&, const Datagram& datagram) const {
      shared->give_up_waiting(datagram);
    }
  };
  struct Policies : DefaultPolicies {
    using Expiry = SlotTimers;
    using EvictionCallback = Forget;
  };
  using Table = FlowTable<Key, Datagram, Policies>;

  FragmentTable(const Config& config, std::unique_ptr<Shared> shared, Table table);

  [[nodiscard]] static TableConfig table_config(const Config& config) {
    return {.entries_max = config.datagrams_max, .hash_seed = config.hash_seed};
  }
  [[nodiscard]] static uint64_t list_bytes(uint64_t datagrams_max, uint64_t places) {
    return 2 * datagrams_max * sizeof(Key) +
           places * (sizeof(Place) + sizeof(uint64_t) + kPlaceBytes);
  }

  [[nodiscard]] Datagram* find_or_make(const Key& key, bool is_first);
  void make_room();
  void sweep();
  void forget(const Key& key, const Datagram& datagram);
  // Frees the place of the fragment that has waited longest, with its datagram; false if that is
  // this one's.
  [[nodiscard]] bool free_a_place(const Key& key);
  [[nodiscard]] net::LaneVerdict wait(const Key& key, const net::Packet& packet,
                                      const net::ParsedPacket& parsed);
  void release(Datagram& datagram);

  std::unique_ptr<Shared> shared_;
  Table table_;
  uint64_t datagrams_max_;
  // Datagrams in the order in which they began, by number modulo the size; those from oldest_ on.
  // Some are removed by now.
  std::vector<Key> begun_;
  uint64_t oldest_ = 0;
  Tick swept_{};
  uint64_t next_number_ = 0;
  uint64_t next_arrival_ = 0;
  TickCount timeout_with_ports_;
  TickCount timeout_without_;
};

}  // namespace roost::conntrack
