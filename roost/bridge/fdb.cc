#include "roost/bridge/fdb.h"

#include "roost/base/assert.h"

namespace roost::bridge {

Result<Fdb> Fdb::create(const Config& config) {
  Result<Table> table = Table::create(
      {.entries_max = config.entries_max + config.static_max, .hash_seed = config.hash_seed});
  if (!table) return table.error();
  Result<MoveLimit> moves = MoveLimit::create(config.moves);
  if (!moves) return moves.error();
  return Fdb(Held{.table = std::move(table).value(),
                  .ageing = Ageing(config.ageing_ticks),
                  .tick_seconds = config.tick_seconds,
                  .room = PortRoom(config.entries_max, config.learn_max),
                  .moves = std::move(moves).value(),
                  .static_max = config.static_max});
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
  PortRoom& room = held_->room;
  const bool has_room = before ? room.can_move(before->port(), port) : room.can_take(port);
  if (!has_room) return Learned::kRefused;
  if (was_known && !held_->moves.may_move(key, second_of(now, held_->tick_seconds)))
    return Learned::kHeld;
  if (is_refusal(writer_->insert(key, value))) return Learned::kRefused;
  if (before) room.give_back(before->port());
  room.take(port);
  if (!before) return Learned::kNew;
  return was_known ? Learned::kMoved : Learned::kRelearned;
}

Learned Fdb::Writer::import(const FdbKey& key, uint16_t port, Tick now) {
  const Learned outcome = learn(key, port, now);
  const bool is_relearned = outcome == Learned::kRelearned;
  held_->counters.added += is_relearned || outcome == Learned::kNew ? 1U : 0U;
  held_->counters.erased += is_relearned ? 1U : 0U;
  return outcome;
}

bool Fdb::Writer::add_static(const FdbKey& key, uint16_t port) {
  const std::optional<FdbValue> before = find(key);
  const bool is_new = !before || !before->is_static();
  if (is_new && held_->static_count == held_->static_max) return false;
  if (is_refusal(writer_->insert(key, FdbValue::fixed(port)))) return false;
  if (!is_new) return true;
  ++held_->static_count;
  ++held_->counters.added;
  if (before) {
    held_->room.give_back(before->port());
    ++held_->counters.erased;
  }
  return true;
}

void Fdb::Writer::forget(const FdbKey& key, FdbValue value) {
  const bool was_there = writer_->erase(key);
  ROOST_ASSERT(was_there);
  if (value.is_static()) {
    --held_->static_count;
  } else {
    held_->room.give_back(value.port());
  }
}

}  // namespace roost::bridge
