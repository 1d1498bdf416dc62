// How records that have expired are found, where the table has no timers of its own (CT-04). All
// of these show the same: a record is live up to its last tick, and each one that has expired is
// reclaimed once. They differ in what finding them costs.
//
// Each of them has
//
//   void begin(uint32_t index, Tick due);  // at `due` a record is over, unless it is used before;
//                                          // later than said earlier, it need not be told
//   void end(uint32_t index);              // it was erased
//   // Looks at records that may have expired, as many as `budget` allows: ask(index) asks for what
//   // look(index) reads, which reclaims a record that has expired, and says at which tick one
//   // that is live is to be looked at again. Returns how many records were looked at.
//   template <class Ask, class Look>
//   uint64_t maintain(Tick now, uint64_t budget, Ask&& ask, Look&& look);
//   uint64_t memory_bytes() const;
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/expiry/timer_wheel.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// Nothing is reclaimed: what there is to gain by doing nothing.
class NothingExpires {
 public:
  void begin(uint32_t /*index*/, Tick /*due*/) {}
  void end(uint32_t /*index*/) {}
  template <class Ask, class Look>
  uint64_t maintain(Tick /*now*/, uint64_t /*budget*/, Ask&& /*ask*/, Look&& /*look*/) {
    return 0;
  }
  [[nodiscard]] static uint64_t memory_bytes() { return 0; }
};

// Goes round the records in their order.
class RecordScan {
 public:
  explicit RecordScan(uint64_t record_count) : record_count_(record_count) {}

  void begin(uint32_t /*index*/, Tick /*due*/) {}
  void end(uint32_t /*index*/) {}
  template <class Ask, class Look>
  uint64_t maintain(Tick /*now*/, uint64_t budget, Ask&& /*ask*/, Look&& look) {
    const uint64_t count = std::min(budget, record_count_);
    for (uint64_t i = 0; i < count; ++i) {
      look(static_cast<uint32_t>(next_));
      next_ = next_ + 1 == record_count_ ? 0 : next_ + 1;
    }
    return count;
  }
  [[nodiscard]] static uint64_t memory_bytes() { return 0; }

 private:
  uint64_t record_count_;
  uint64_t next_ = 0;
};

// Goes round the table in the table's own order, as the paper does: the table's lines, and those of
// the records. With a number of entries a call, it takes as many at least.
class TableScan {
 public:
  struct Config {
    std::function<size_t(std::span<uint32_t>)> next;  // Index::next_indices
    uint64_t per_call = 0;                            // as many as the budget allows
  };

  explicit TableScan(Config config) : config_(std::move(config)) {}

  void begin(uint32_t /*index*/, Tick /*due*/) {}
  void end(uint32_t /*index*/) {}
  template <class Ask, class Look>
  uint64_t maintain(Tick /*now*/, uint64_t budget, Ask&& ask, Look&& look) {
    budget = std::max(budget, config_.per_call);
    std::array<uint32_t, 32> indices;
    uint64_t looked = 0;
    unsigned ends = 0;  // that were met: at the second one nothing is left
    while (looked < budget && ends < 2) {
      const size_t count =
          config_.next(std::span(indices).first(std::min(indices.size(), budget - looked)));
      if (count == 0) ++ends;
      for (const uint32_t index : std::span(indices).first(count)) ask(index);
      for (const uint32_t index : std::span(indices).first(count)) look(index);
      looked += count;
    }
    return looked;
  }
  [[nodiscard]] static uint64_t memory_bytes() { return 0; }

 private:
  Config config_;
};

// A timer a record (roost/expiry/timer_wheel.h).
class RecordWheel {
 public:
  explicit RecordWheel(TimerWheel wheel) : wheel_(std::move(wheel)) {}

  void begin(uint32_t index, Tick due) { wheel_.arm(index, due); }
  void end(uint32_t index) { wheel_.disarm(index); }
  template <class Ask, class Look>
  uint64_t maintain(Tick now, uint64_t budget, Ask&& ask, Look&& look) {
    return wheel_.advance(now, budget, ask, look);
  }
  [[nodiscard]] uint64_t memory_bytes() const { return wheel_.memory_bytes(); }

 private:
  TimerWheel wheel_;
};

enum class ExpiryKind : uint8_t { kNone, kScan, kTableScan, kWheel };

using Expiry = std::variant<NothingExpires, RecordScan, TableScan, RecordWheel>;

[[nodiscard]] inline Result<Expiry> make_expiry(ExpiryKind kind, uint64_t record_count,
                                                TableScan::Config table_scan,
                                                const ArenaOptions& memory) {
  switch (kind) {
    case ExpiryKind::kNone:
      return Expiry(NothingExpires());
    case ExpiryKind::kScan:
      return Expiry(RecordScan(record_count));
    case ExpiryKind::kTableScan:
      return Expiry(TableScan(std::move(table_scan)));
    case ExpiryKind::kWheel:
      break;
  }
  Result<TimerWheel> wheel = TimerWheel::create({.timers = record_count, .memory = memory});
  if (!wheel) return wheel.error();
  return Expiry(RecordWheel(std::move(wheel).value()));
}

}  // namespace roost::lab
