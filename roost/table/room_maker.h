// How a full bucket gets room: by entries that move to others of their buckets.
//
// Idea: an insert that finds its primary bucket full first sends displaced entries home, to where
// room has come free since. Else, with the secondary bucket full too, it searches for a kick path.
// Either way entries move along a path, deepest first, so that every entry is in one of its buckets
// at every step. Where there is no path and the table has a stash, it takes a slot there.
//
// Without the way home, a table wears out: entries are displaced when their buckets are full, and
// stay so when they are not any more. Two of five entries of a table at load 0.95 are displaced
// after a few replacements of each, one of six when it was filled, and one of five with it. At
// lower loads buckets are seldom full, and no insert needs a slot that a displaced entry could
// leave: there the engine goes over the buckets after departures, and brings entries home.
//
// Limits: a search looks at kick_nodes_max(slots) buckets, or at kShortSearchNodes if it is short,
// and at kHomeSearchNodes for a way home. Nothing changes unless room is found.
#pragma once

#include <cstdint>
#include <utility>

#include "roost/isa/kernel.h"
#include "roost/table/kick_path.h"
#include "roost/table/layout.h"
#include "roost/table/slot_mask.h"

namespace roost {

// Buckets that a search looks at when the one before it was in vain and nothing has left since. A
// million slots, refusing: 0.9 us an insert with eight slots a bucket, 1.0 with two; a search to
// the end takes tens of microseconds.
inline constexpr unsigned kShortSearchNodes = 32;

enum class Search : uint8_t { kShort, kLong };

// Buckets that a search for a way home looks at: the homes of a bucket's displaced entries, mostly.
// With 256 it finds no more.
inline constexpr unsigned kHomeSearchNodes = 16;

// Works for one operation of `Engine`, by kernel K.
template <class Engine, Kernel K>
class RoomMaker {
  using Layout = typename Engine::Layout;
  using Line = typename Engine::Line;
  static constexpr unsigned kSlots = Layout::kSlots;

 public:
  explicit RoomMaker(Engine& engine) : engine_(engine) {}

  // Frees a slot of a key's full primary bucket by moves to primary buckets; false when there is no
  // such way. What it saw of the bucket's displaced entries, their primary buckets' lines learn.
  [[gnu::noinline]] bool by_sending_home(BucketIndex primary, SlotRef& room) {
    const auto roots = [&](auto&& push) { push(primary); };
    const auto moves = [this](SlotRef at, auto&& visit) {
      if (placement().is_displaced(at)) visit(placement().origin_of(at).primary);
    };
    const bool is_found = move_along(kHomeSearchNodes, roots, moves, room);
    for (const unsigned slot : displaced_slots(line(primary))) placement().remind({primary, slot});
    return is_found;
  }

  // Moves one of the entries displaced from a bucket back to it, if it has room again. Where lines
  // do not lead to them, the entries displaced to a bucket go home.
  void bring_home(BucketIndex bucket) {
    if constexpr (KeepsFilter<Line>) {
      call_home(bucket);
    } else {
      for (const unsigned slot : displaced_slots(line(bucket))) {
        const SlotRef from{bucket, slot};
        SlotRef to{};
        if (take_vacancy(placement().origin_of(from).primary, to)) move(from, to);
      }
    }
  }

  // Frees a slot of the full buckets that a key may be in; false when none is found.
  [[gnu::noinline, gnu::cold]] bool by_kicking(BucketIndex primary, Tag tag, Search search,
                                               SlotRef& room) {
    const auto roots = [&](auto&& push) {
      push(primary);
      placement().for_each_secondary(primary, tag, push);
    };
    const auto moves = [this](SlotRef at, auto&& visit) { placement().for_each_move(at, visit); };
    const unsigned nodes_max =
        search == Search::kShort ? kShortSearchNodes : kick_nodes_max(kSlots);
    return move_along(nodes_max, roots, moves, room);
  }

  // Frees a slot of the stash, if need be by moving an entry home; false when there is none.
  [[gnu::noinline, gnu::cold]] bool in_stash(Search search, SlotRef& room) {
    if (placement().for_each_stash_bucket(
            [&](BucketIndex bucket) { return take_vacancy(bucket, room); })) {
      return true;
    }
    if (search == Search::kShort) return false;
    return placement().for_each_stash_bucket([&](BucketIndex bucket) {
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        room = {bucket, slot};
        if (leave_stash(room)) return true;
      }
      return false;
    });
  }

  // Tries to empty a slot of the stash, the `number`th when they are counted round.
  void relieve_stash(uint64_t number) {
    const uint64_t first = placement().map().bucket_count();
    const uint64_t slot = number % ((placement().bucket_count() - first) * kSlots);
    const SlotRef at{BucketIndex{first + slot / kSlots}, static_cast<unsigned>(slot % kSlots)};
    if (placement().is_displaced(at)) leave_stash(at);
  }

 private:
  void call_home(BucketIndex primary)
    requires KeepsFilter<Line>
  {
    const Line& home = line(primary);
    if (home.moved == 0 || engine_.template vacancies<K>(home).empty()) return;
    SlotRef from{};
    bool is_found = false;
    placement().for_each_displaced_from(primary, Engine::Probing::enough_leads(home),
                                        [&](SlotRef at, Tag /*tag*/) {
                                          from = at;
                                          is_found = true;
                                        });
    SlotRef to{};
    if (is_found && take_vacancy(primary, to)) move(from, to);
  }

  [[nodiscard]] auto& placement() { return engine_.placement(); }
  [[nodiscard]] decltype(auto) line(BucketIndex bucket) {
    return std::as_const(placement()).layout().line(bucket);
  }

  // Moves the entry in a slot of the stash to one of its own buckets, if there is a short way
  // to make room there.
  bool leave_stash(SlotRef at) {
    const Origin origin = placement().origin_of(at);
    SlotRef to{};
    bool has_room = take_vacancy(origin.primary, to);
    placement().for_each_secondary(origin.primary, origin.tag, [&](BucketIndex bucket) {
      has_room = has_room || take_vacancy(bucket, to);
    });
    has_room = has_room || by_kicking(origin.primary, origin.tag, Search::kShort, to);
    if (has_room) move(at, to);
    return has_room;
  }

  bool take_vacancy(BucketIndex bucket, SlotRef& room) {
    return engine_.template take_vacancy<K>(bucket, room);
  }

  template <class Roots, class Moves>
  bool move_along(unsigned nodes_max, Roots&& roots, Moves&& moves, SlotRef& room) {
    const auto vacancies = [this](const Line& line) { return engine_.template vacancies<K>(line); };
    KickPath<kSlots> path;
    do {
      if (!find_kick_path(placement(), nodes_max, roots, moves, vacancies, path)) return false;
    } while (!engine_.take(path.steps[path.move_count]));
    for (unsigned step = path.move_count; step > 0; --step)
      move(path.steps[step - 1], path.steps[step]);
    room = path.steps[0];
    return true;
  }

  void move(SlotRef from, SlotRef to) {
    placement().move_entry(from, to);
    ++placement().stats().kicks;
  }

  Engine& engine_;
};

}  // namespace roost
