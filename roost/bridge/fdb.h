// The forwarding database of a switch: which station is at which port. All workers share it
// (CuckooSwitch, CoNEXT 2013; CSW-14).
//
//   Fdb fdb = Fdb::create({.entries_max = 2'000'000, .learn_max = {{}, {}}}).value();
//   Learner learner(fdb, worker, worker_count);          // one a worker, see learner.h
//
// Lookups are the table's, by a reader a thread. Changes are one thread's at a time, which has an
// Fdb::Writer: it keeps the ports' room, and limits moves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/bridge/ageing.h"
#include "roost/bridge/fdb_entry.h"
#include "roost/bridge/move_limit.h"
#include "roost/bridge/port_room.h"
#include "roost/concurrent/shared_table.h"
#include "roost/expiry/tick.h"

namespace roost::bridge {

// What became of a station that was seen.
enum class Learned : uint8_t {
  kNew,        // it is known now
  kRelearned,  // the same, in the place of its entry of before, which was not reclaimed yet
  kMoved,      // it is known at another port than before
  kKnown,      // it was there already
  kStatic,     // it has a static entry, which stays
  kHeld,       // it has moved too often, and stays where it was
  kRefused,    // its port may have no more
};

// What was done by hand.
struct FdbCounters {
  uint64_t added = 0;
  uint64_t erased = 0;
};

inline constexpr std::array kFdbCounters = {
    Counter{"added", &FdbCounters::added, "entries added by hand, static or imported ones"},
    Counter{"erased", &FdbCounters::erased,
            "entries deleted, flushed, or replaced by one that was added"},
};

class Fdb {
  struct Policies : DefaultPolicies {
    static constexpr uint16_t kHintBits = FdbValue::kAgeMask;
  };

 public:
  using Table = SharedTable<FdbKey, FdbValue, Policies>;

  struct Config {
    uint64_t entries_max = 0;                          // of learned entries
    uint64_t static_max = 0;                           // of static ones, beside them
    std::vector<std::optional<uint64_t>> learn_max{};  // of each port
    MoveLimit::Config moves{};
    uint64_t ageing_ticks = 300;
    double tick_seconds = 1;
    std::optional<uint64_t> hash_seed{};
  };

  // Errors: memory is unavailable, or the table is too small for keys of 60 bits.
  static Result<Fdb> create(const Config& config);

  [[nodiscard]] Table::Reader reader() const { return held_->table.reader(); }
  [[nodiscard]] const Ageing& ageing() const { return held_->ageing; }
  [[nodiscard]] uint64_t bucket_count() const { return held_->table.table().bucket_count(); }
  // Over all entries, while they change; see SharedWalk. One thread's, not a worker's.
  [[nodiscard]] Table::Walk walk() { return held_->table.walk(); }

  // The right to change it, for one thread.
  class Writer;
  [[nodiscard]] std::optional<Writer> try_write();
  [[nodiscard]] Writer write();

 private:
  // Where it stays when the database is moved.
  struct Held {
    Table table;
    Ageing ageing;
    double tick_seconds;
    // The writer's.
    PortRoom room;
    MoveLimit moves;
    uint64_t static_max;
    uint64_t static_count = 0;
    FdbCounters counters{};
  };

  explicit Fdb(Held held) : held_(std::make_unique<Held>(std::move(held))) {}

  std::unique_ptr<Held> held_;
};

class Fdb::Writer {
 public:
  // A frame of the station came in by the port.
  Learned learn(const FdbKey& key, uint16_t port, Tick now);

  // The same by hand, as if a frame had come in now.
  Learned import(const FdbKey& key, uint16_t port, Tick now);

  // A static entry, at a port or at none, in place of what is there. False: there is no room.
  [[nodiscard]] bool add_static(const FdbKey& key, uint16_t port);

  // Of a station, known or not.
  [[nodiscard]] std::optional<FdbValue> find(const FdbKey& key) const;

  // By hand. False when there is none, or must_go(value) is false.
  template <class MustGo>
  bool erase_if(const FdbKey& key, MustGo&& must_go) {
    const bool is_erased = take_out(key, must_go);
    held_->counters.erased += is_erased ? 1U : 0U;
    return is_erased;
  }
  bool erase(const FdbKey& key) {
    return erase_if(key, [](FdbValue) { return true; });
  }
  // Erases a learned entry that nobody has seen for the ageing time.
  bool erase_unknown(const FdbKey& key, Tick now) {
    const uint64_t sixteenth = held_->ageing.sixteenth(now);
    return take_out(key, [&](FdbValue value) { return Ageing::is_unknown(value, sixteenth); });
  }
  // Erases a learned entry, which is too old whatever its age says.
  bool erase_old(const FdbKey& key) {
    return take_out(key, [](FdbValue value) { return !value.is_static(); });
  }

  [[nodiscard]] uint64_t size() const { return writer_->size(); }
  [[nodiscard]] uint64_t learned_at(uint16_t port) const { return held_->room.learned(port); }
  [[nodiscard]] uint64_t static_count() const { return held_->static_count; }
  [[nodiscard]] const FdbCounters& counters() const { return held_->counters; }
  // Addresses that moved lately.
  [[nodiscard]] MoveLimit& moves(Tick now) {
    held_->moves.advance(second_of(now, held_->tick_seconds));
    return held_->moves;
  }

  // How many each port may learn from now on.
  void set_learn_max(std::vector<std::optional<uint64_t>> learn_max) {
    held_->room.set_bounds(std::move(learn_max));
  }
  [[nodiscard]] bool has_too_many(uint16_t port) const { return held_->room.is_beyond_bound(port); }

  [[nodiscard]] const Table::Table& table() const { return *writer_; }

 private:
  friend class Fdb;
  Writer(Held* held, Table::Writer writer) : held_(held), writer_(std::move(writer)) {}

  template <class MustGo>
  bool take_out(const FdbKey& key, MustGo&& must_go) {
    const std::optional<FdbValue> value = find(key);
    if (!value || !must_go(*value)) return false;
    forget(key, *value);
    return true;
  }
  void forget(const FdbKey& key, FdbValue value);

  Held* held_;
  Table::Writer writer_;
};

}  // namespace roost::bridge
