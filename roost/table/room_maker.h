// How a full bucket gets room: by entries that move to others of their buckets.
//
// Idea: an insert that finds its buckets full searches for a kick path, and moves the entries along
// it, deepest first, so that every entry is in one of its buckets at every step. Where there is no
// path and the table has spare buckets, it takes a slot there.
//
// Limits: a search looks at kick_nodes_max(slots) buckets, or at kShortSearchNodes if it is short.
// Nothing changes unless room is found.
#pragma once

#include <bit>
#include <cstdint>

#include "roost/isa/kernel.h"
#include "roost/table/kick_path.h"
#include "roost/table/layout.h"

namespace roost {

// Buckets that a search looks at when the one before it was in vain and nothing has left since. A
// million slots, refusing: 0.9 us an insert with eight slots a bucket, 1.0 with two; a search to
// the end takes tens of microseconds.
inline constexpr unsigned kShortSearchNodes = 32;

enum class Search : uint8_t { kShort, kLong };

// Works for one operation of `Engine`, by kernel K.
template <class Engine, Kernel K>
class RoomMaker {
  using Layout = typename Engine::Layout;
  using Line = typename Engine::Line;
  static constexpr unsigned kSlots = Layout::kSlots;

 public:
  explicit RoomMaker(Engine& engine) : engine_(engine) {}

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

  // Frees a slot of a spare bucket, if need be by moving an entry home; false when there is none.
  [[gnu::noinline, gnu::cold]] bool among_spares(Search search, SlotRef& room) {
    if (placement().for_each_spare_bucket(
            [&](BucketIndex bucket) { return take_vacancy(bucket, room); })) {
      return true;
    }
    if (search == Search::kShort) return false;
    return placement().for_each_spare_bucket([&](BucketIndex bucket) {
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        room = {bucket, slot};
        if (move_once(room)) return true;
      }
      return false;
    });
  }

 private:
  [[nodiscard]] auto& placement() { return engine_.placement_; }
  [[nodiscard]] const Line& line(BucketIndex bucket) { return placement().layout().line(bucket); }

  bool take_vacancy(BucketIndex bucket, SlotRef& room) {
    const unsigned vacant = engine_.template vacancies<K>(line(bucket));
    if (vacant != 0) room = engine_.take({bucket, static_cast<unsigned>(std::countr_zero(vacant))});
    return vacant != 0;
  }

  // Moves the entry in `at` to another of its buckets that has a vacant slot; false when none has.
  bool move_once(SlotRef at) {
    SlotRef to{};
    bool is_taken = false;
    placement().for_each_move(
        at, [&](BucketIndex bucket) { is_taken = is_taken || take_vacancy(bucket, to); });
    if (is_taken) move(at, to);
    return is_taken;
  }

  template <class Roots, class Moves>
  bool move_along(unsigned nodes_max, Roots&& roots, Moves&& moves, SlotRef& room) {
    const auto vacancies = [this](const Line& line) { return engine_.template vacancies<K>(line); };
    KickPath<kSlots> path;
    if (!find_kick_path(placement(), nodes_max, roots, moves, vacancies, path)) return false;
    engine_.take(path.steps[path.move_count]);
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
