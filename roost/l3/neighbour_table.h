// The neighbour cache: an entry for each neighbour, in lists by state and age.
//
// A fixed array of entries; an address leads to its entry through a flow table, so that an attacker
// cannot choose addresses that collide. The entries of one state form a list in the order in which
// they entered it. As a state lasts equally long for all, the first of the list is the first whose
// time is over, and the first to evict when room is needed: no search, no sorting.
//
//   state         list   the entry's time is over when
//   kUnknown      yes*   nothing is known and nothing was solicited; removed
//   kIncomplete   yes    the advertisement is late: solicit again, or fail
//   kReachable    yes    the confirmation is old: stale
//   kStale        yes*   unused: removed
//   kProbe        yes    the advertisement is late: solicit again, or fail
//   kFailed       yes*   unused: removed
//   kLearned      yes*   it solicited us once and was unused: removed
//   kStatic       no     never
//
// * Pinned entries, which the configuration names, are in no such list: they are never removed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/l3/waiting_frames.h"
#include "roost/net/address.h"
#include "roost/table/flow_table.h"

namespace roost::l3 {

enum class NeighbourState : uint8_t {
  kUnknown,
  kIncomplete,
  kReachable,
  kStale,
  kProbe,
  kFailed,
  kLearned,
  kStatic,
};
inline constexpr size_t kNeighbourStateCount = 8;

// As reports write them.
inline constexpr std::array<std::string_view, kNeighbourStateCount> kNeighbourStateNames = {
    "unknown", "incomplete", "reachable", "stale", "probe", "failed", "learned", "static"};

// Names an entry until it is removed.
using NeighbourIndex = uint32_t;
// Indices fit in 24 bits, so that they can be packed.
inline constexpr NeighbourIndex kNoNeighbour = (NeighbourIndex{1} << 24) - 1;

struct NeighbourEntry {
  net::IpAddress address{};
  uint16_t port = 0;
  net::MacAddress mac{};  // of kReachable, kStale, kProbe, kLearned and kStatic
  NeighbourState state = NeighbourState::kUnknown;
  bool is_pinned = false;
  uint8_t solicitation_count = 0;  // since the last confirmation
  bool is_free = true;
  NeighbourIndex previous = kNoNeighbour;  // in the state's list, or the free list
  NeighbourIndex next = kNoNeighbour;
  Tick since{};         // entered the state, or solicited again
  Tick solicited_at{};  // the last solicitation
  FrameQueue waiting{};
};

// One worker's.
class NeighbourTable {
 public:
  struct Config {
    uint32_t entry_count_max = 0;
    std::optional<uint64_t> hash_seed{};  // else random
  };
  static Result<NeighbourTable> create(const Config& config);

  [[nodiscard]] NeighbourIndex find(uint16_t port, const net::IpAddress& address);

  // A new entry in state kUnknown; kNoNeighbour when none is free. The address must not be there
  // unless it is none (a static gateway without an address).
  NeighbourIndex create_entry(uint16_t port, const std::optional<net::IpAddress>& address,
                              bool is_pinned, Tick now);
  void forget(NeighbourIndex index);

  // Moves the entry to the end of the state's list.
  void enter(NeighbourIndex index, NeighbourState state, Tick now);

  // The longest in this state; kNoNeighbour when there is none.
  [[nodiscard]] NeighbourIndex first(NeighbourState state) const {
    return lists_[static_cast<size_t>(state)].first;
  }
  [[nodiscard]] NeighbourIndex next(NeighbourIndex index) const { return entries_[index].next; }

  [[nodiscard]] NeighbourEntry& entry(NeighbourIndex index) { return entries_[index]; }
  [[nodiscard]] const NeighbourEntry& entry(NeighbourIndex index) const { return entries_[index]; }
  // Those with is_free are not there.
  [[nodiscard]] uint32_t entry_count_max() const { return static_cast<uint32_t>(entries_.size()); }
  [[nodiscard]] uint32_t count() const { return count_; }
  // Of the entries that are there, by state.
  [[nodiscard]] const std::array<uint32_t, kNeighbourStateCount>& counts_by_state() const {
    return counts_by_state_;
  }

  // Every entry is counted and in the list of its state, once, and leads from its address.
  // O(entries).
  [[nodiscard]] bool audit();

 private:
  struct Key {
    net::IpAddress address{};
    uint8_t zero = 0;
    uint16_t port = 0;
    std::array<uint8_t, 4> more_zero{};
  };
  static_assert(sizeof(Key) == 24 && sizeof(net::IpAddress) == 17,
                "the table's padded key size of 24 bytes, without padding");
  using ByAddress = FlowTable<Key, NeighbourIndex>;

  struct List {
    NeighbourIndex first = kNoNeighbour;
    NeighbourIndex last = kNoNeighbour;
  };

  NeighbourTable(ByAddress by_address, uint32_t entry_count_max)
      : by_address_(std::move(by_address)), entries_(entry_count_max) {}

  [[nodiscard]] static bool is_listed(const NeighbourEntry& entry);
  void link(List& list, NeighbourIndex index);
  void unlink(List& list, NeighbourIndex index);
  [[nodiscard]] uint32_t& count_of(const NeighbourEntry& entry) {
    return counts_by_state_[static_cast<size_t>(entry.state)];
  }
  [[nodiscard]] List& list_of(const NeighbourEntry& entry) {
    return lists_[static_cast<size_t>(entry.state)];
  }

  ByAddress by_address_;
  std::vector<NeighbourEntry> entries_;
  std::array<List, kNeighbourStateCount> lists_;
  List free_;
  uint32_t count_ = 0;
  std::array<uint32_t, kNeighbourStateCount> counts_by_state_{};
};

}  // namespace roost::l3
