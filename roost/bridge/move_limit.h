// Which addresses may move to another port: one that moves too often stays where it is for a while.
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

  struct Config {
    uint32_t moves_max = 5;  // in a window, which begins with the first
    TickCount window_seconds = 10;
    TickCount hold_seconds = 60;
  };

  static Result<MoveLimit> create(const Config& config) {
    Result<Table> table = Table::create({.entries_max = kAddressesMax});
    if (!table) return table.error();
    return MoveLimit(config, std::move(table).value());
  }

  // Forgets what is too long ago by now. Once a second it takes microseconds.
  void advance(uint64_t second) {
    if (Tick{second} <= moved_.now()) return;
    static_cast<void>(moved_.advance(Tick{second}));
    moved_.maintain(moved_.bucket_count());
  }

  // Whether an address may move now, in which case it has.
  [[nodiscard]] bool may_move(const FdbKey& key, uint64_t second) {
    advance(second);
    Moved* moved = moved_.find(key);
    if (moved == nullptr) {
      return moved_.size() < kAddressesMax &&
             moved_.insert(key, {.moves = 1, .is_held = 0}, config_.window_seconds) !=
                 InsertOutcome::kFull;
    }
    if (moved->is_held != 0) return false;
    if (moved->moves < config_.moves_max) {
      ++moved->moves;
      return true;
    }
    moved->is_held = 1;
    moved_.refresh(moved, config_.hold_seconds);
    return false;
  }

  // Addresses that moved lately, those that are held among them.
  [[nodiscard]] uint64_t size() const { return moved_.size(); }

  // visit(key, moves, is_held) of each.
  template <class Visit>
  void for_each(Visit&& visit) {
    moved_.for_each([&](const FdbKey& key, const Moved& moved) {
      visit(key, moved.moves, moved.is_held != 0);
    });
  }

 private:
  struct Moved {
    uint32_t moves;
    uint32_t is_held;
  };
  struct Policies : DefaultPolicies {
    using Expiry = SlotTimers;
  };
  using Table = FlowTable<FdbKey, Moved, Policies>;

  MoveLimit(const Config& config, Table table) : config_(config), moved_(std::move(table)) {}

  Config config_;
  Table moved_;
};

}  // namespace roost::bridge
