// Insert, upsert and erase of one key.
//
// One key has no other lines to wait for meanwhile, so it takes no stages: it reads its line at
// once. What overlaps the wait is the caller's next call, if the processor gets that far: it holds
// a few hundred instructions. So these calls are short. Through a batch of one, inserts took twice
// as long (32M slots: 307 ns and 163 ns).
#pragma once

#include <cstddef>
#include <utility>

#include "roost/expiry/slot_timers.h"
#include "roost/isa/kernel.h"
#include "roost/table/engine.h"

namespace roost {

// `key` stands for a pointer to the key's bytes, and `hashes(0, key)` is its hash (key_source.h).
// It is the caller's: bytes that were put together here could not be read as a register
// before the call ahead of this one is done.
template <class Engine, class Key, class Hashes>
struct InsertOne {
  Engine* engine;
  const Key& key;
  Hashes hashes;
  std::byte* value;  // may be const when an existing key is overwritten
  TickCount timeout;
  IfExisting if_existing;

  template <Kernel K>
  InsertOutcome run() {
    return engine->template insert<K>(key, hashes(0, key), value, timeout, if_existing);
  }
};

template <class Engine, class Key, class Hashes>
struct EraseOne {
  Engine* engine;
  const Key& key;
  Hashes hashes;

  template <Kernel K>
  bool run() {
    return engine->template erase<K>(key, hashes(0, key));
  }
};

// Inserts or updates a key where that changes nothing but its primary bucket; false, and nothing
// done, when that has no room. For tables without expired entries.
template <class Engine, class Key>
struct InsertAtHome {
  Engine* engine;
  const Key& key;
  Hash64 hash;
  const std::byte* value;
  TickCount timeout;

  template <Kernel K>
  [[nodiscard]] bool run() {
    const auto& layout = std::as_const(*engine).layout();
    const Tag tag = layout.tag_of(hash);
    const uint16_t timer = engine->timer_of(timeout);
    SlotRef at{engine->map().primary(hash), 0};
    const typename Engine::Line& line = layout.line(at.bucket);
    for (const unsigned slot :
         engine->template candidates<K>(line, tag, key, Residence::kPrimary)) {
      at.slot = slot;
      if (!holds_key<K>(layout, at, key, at.bucket)) continue;
      engine->placement().write_value(at, value);
      engine->placement().set_timer(at, timer);
      return true;
    }
    const SlotMask free = SlotMask::below(Engine::Layout::kSlots) - busy_slots(line);
    if (free.empty() || !may_hold(layout, key)) return false;
    at.slot = free.lowest();
    engine->placement().insert_entry(at, {at.bucket, tag}, key, value, timer);
    ++engine->stats().created;
    ++engine->stats().path_lengths[0];
    return true;
  }
};

}  // namespace roost
