// The forwarding database of a switch: which station is at which port. All workers share it
// (CuckooSwitch, CoNEXT 2013; CSW-14).
//
//   Fdb fdb = Fdb::create({.entries_max = 2'000'000, .learn_max = {{}, {}}}).value();
//   Learner learner(fdb, worker, worker_count);          // one a worker, see learner.h
//
// Lookups are the table's, by a reader a thread. Changes are one thread's at a time, which has an
// Fdb::Writer: it keeps the ports' room, and limits moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

class Fdb {
  struct Policies : DefaultPolicies {
    static constexpr uint16_t kHintBits = FdbValue::kAgeMask;
  };

 public:
  using Table = SharedTable<FdbKey, FdbValue, Policies>;

  struct Config {
    uint64_t entries_max = 0;
    std::vector<std::optional<uint64_t>> learn_max{};  // of each port
    uint64_t ageing_ticks = 300;
    double tick_seconds = 1;
    std::optional<uint64_t> hash_seed{};
  };

  // Errors: memory is unavailable, or the table is too small for keys of 60 bits.
  static Result<Fdb> create(const Config& config);

  [[nodiscard]] Table::Reader reader() const { return held_->table.reader(); }
  [[nodiscard]] const Ageing& ageing() const { return held_->ageing; }
  [[nodiscard]] uint64_t bucket_count() const { return held_->table.table().bucket_count(); }

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
    PortRoom room;    // the writer's
    MoveLimit moves;  // the writer's
  };

  explicit Fdb(Held held) : held_(std::make_unique<Held>(std::move(held))) {}

  std::unique_ptr<Held> held_;
};

class Fdb::Writer {
 public:
  // A frame of the station came in by the port.
  Learned learn(const FdbKey& key, uint16_t port, Tick now);

  // A static entry, at a port or at none, in place of a learned one. Errors: there is no room.
  std::optional<Error> add_static(const FdbKey& key, uint16_t port);

  // False when there is none.
  bool erase(const FdbKey& key);
  // Erases a learned entry that nobody has seen for the ageing time.
  bool erase_unknown(const FdbKey& key, Tick now);

  [[nodiscard]] uint64_t size() const { return writer_->size(); }
  [[nodiscard]] uint64_t learned_at(uint16_t port) const { return held_->room.learned(port); }
  // Addresses that moved lately.
  [[nodiscard]] uint64_t moved_lately() const { return held_->moves.size(); }
  [[nodiscard]] const Table::Table& table() const { return *writer_; }

 private:
  friend class Fdb;
  Writer(Held* held, Table::Writer writer) : held_(held), writer_(std::move(writer)) {}

  [[nodiscard]] std::optional<FdbValue> find(const FdbKey& key) const;
  void forget(const FdbKey& key, FdbValue value);

  Held* held_;
  Table::Writer writer_;
};

}  // namespace roost::bridge
