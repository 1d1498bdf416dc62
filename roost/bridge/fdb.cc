#include "roost/bridge/fdb.h"

#include <array>

#include "roost/base/assert.h"

namespace roost::bridge {

Result<Fdb> Fdb::create(const Config& config) {
  Result<Table> table =
      Table::create({.entries_max = config.entries_max, .hash_seed = config.hash_seed});
  if (!table) return table.error();
  Result<MoveLimit> moves = MoveLimit::create();
  if (!moves) return moves.error();
  return Fdb(Held{.table = std::move(table).value(),
                  .ageing = Ageing(config.ageing_ticks),
                  .tick_seconds = config.tick_seconds,
                  .room = PortRoom(config.entries_max, config.learn_max),
                  .moves = std::move(moves).value()});
}

std::optional<Fdb::Writer> Fdb::try_write() {
  auto writer = held_->table.try_write();
  if (!writer) return std::nullopt;
  return Writer(held_.get(), std::move(*writer));
}

Fdb::Writer Fdb::write() { return {held_.get(), held_->table.write()}; }

std::optional<FdbValue> Fdb::Writer::find(const FdbKey& key) const {
  FdbValue value;
  HitArray<1> hits;
  const size_t found = writer_->lookup(std::span(&key, 1), std::span(&value, 1), hits);
  return found != 0 ? std::optional(value) : std::nullopt;
}

Learned Fdb::Writer::learn(const FdbKey& key, uint16_t port, Tick now) {
  const uint64_t sixteenth = held_->ageing.sixteenth(now);
  const FdbValue value = FdbValue::learned(port, static_cast<uint32_t>(sixteenth));
  const std::optional<FdbValue> before = find(key);
  if (before && before->is_static()) return Learned::kStatic;
  const bool was_known = before && !Ageing::is_unknown(*before, sixteenth);
  if (before && before->port() == port) {
    static_cast<void>(writer_->insert(key, value));
    return was_known ? Learned::kKnown : Learned::kRelearned;
  }
  if (was_known) {
    const auto second = static_cast<uint64_t>(static_cast<double>(now.count) * held_->tick_seconds);
    if (!held_->moves.may_move(key, second)) return Learned::kHeld;
  }
  if (!held_->room.take(port)) return Learned::kRefused;
  if (is_refusal(writer_->insert(key, value))) {
    held_->room.give_back(port);
    return Learned::kRefused;
  }
  if (!before) return Learned::kNew;
  held_->room.give_back(before->port());
  return was_known ? Learned::kMoved : Learned::kRelearned;
}

std::optional<Error> Fdb::Writer::add_static(const FdbKey& key, uint16_t port) {
  const std::optional<FdbValue> before = find(key);
  const bool takes_room = !before || !before->is_static();
  if (takes_room && !held_->room.take_shared()) {
    return Error{"the forwarding database has no room for another static entry"};
  }
  if (is_refusal(writer_->insert(key, FdbValue::fixed(port)))) {
    held_->room.give_back_shared();
    return Error{"the forwarding database is full"};
  }
  if (before && takes_room) held_->room.give_back(before->port());
  return std::nullopt;
}

void Fdb::Writer::forget(const FdbKey& key, FdbValue value) {
  const bool was_there = writer_->erase(key);
  ROOST_ASSERT(was_there);
  if (value.is_static()) {
    held_->room.give_back_shared();
  } else {
    held_->room.give_back(value.port());
  }
}

bool Fdb::Writer::erase(const FdbKey& key) {
  const std::optional<FdbValue> value = find(key);
  if (value) forget(key, *value);
  return value.has_value();
}

bool Fdb::Writer::erase_unknown(const FdbKey& key, Tick now) {
  const std::optional<FdbValue> value = find(key);
  if (!value || !Ageing::is_unknown(*value, held_->ageing.sixteenth(now))) return false;
  forget(key, *value);
  return true;
}

}  // namespace roost::bridge
