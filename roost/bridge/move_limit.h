// Which addresses may move to another port: one that has moved more than five times in ten seconds
// stays a minute where it is.
//
// Those that moved lately are remembered; while there are too many of them, others do not move.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/base/result.h"
#include "roost/bridge/fdb_entry.h"
#include "roost/expiry/slot_timers.h"
#include "roost/table/flow_table.h"

namespace roost::bridge {

class MoveLimit {
 public:
  static constexpr uint64_t kAddressesMax = 4'096;
  static constexpr uint32_t kMovesMax = 5;
  static constexpr TickCount kWindowSeconds = 10;
  static constexpr TickCount kHoldSeconds = 60;

  static Result<MoveLimit> create() {
    Result<Table> table = Table::create({.entries_max = kAddressesMax});
    if (!table) return table.error();
    return MoveLimit(std::move(table).value());
  }

  // Whether an address may move now, in which case it has. Once a second it takes microseconds.
  [[nodiscard]] bool may_move(const FdbKey& key, uint64_t second) {
    if (Tick{second} > moved_.now()) {
      static_cast<void>(moved_.advance(Tick{second}));
      moved_.maintain(moved_.bucket_count());
    }
    Moved* moved = moved_.find(key);
    if (moved == nullptr) {
      return moved_.size() < kAddressesMax &&
             moved_.insert(key, {.moves = 1, .is_held = 0}, kWindowSeconds) != InsertOutcome::kFull;
    }
    if (moved->is_held != 0) return false;
    if (moved->moves < kMovesMax) {
      ++moved->moves;
      return true;
    }
    moved->is_held = 1;
    moved_.refresh(moved, kHoldSeconds);
    return false;
  }

  // Addresses that moved lately, those that are held among them.
  [[nodiscard]] uint64_t size() const { return moved_.size(); }

 private:
  struct Moved {
    uint32_t moves;
    uint32_t is_held;
  };
  struct Policies : DefaultPolicies {
    using Expiry = SlotTimers;
  };
  using Table = FlowTable<FdbKey, Moved, Policies>;

  explicit MoveLimit(Table table) : moved_(std::move(table)) {}

  Table moved_;
};

}  // namespace roost::bridge
