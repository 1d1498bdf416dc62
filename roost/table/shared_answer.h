// How a lane of a batch is answered while the table may change: with a copy that was looked at
// until it was whole. Beside copying a value, what readers may do to an entry is done here: give it
// a new time to live (`action.new_timeouts`), and set bits of its value (`action.hint`).
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/hash/hash64.h"
#include "roost/table/layout.h"
#include "roost/table/shared_search.h"
#include "roost/table/words.h"

namespace roost {

// What a batch found without a look at whether it changed: maybe the entry of the key.
template <class Key>
struct SharedCandidate {
  Residence residence;
  Hash64 hash;
  Key key;
  const std::byte* target;
};

// Sets bits of the value of an entry, if it is as it was seen.
template <class Layout, class Action>
void set_hint(const std::byte* target, uint64_t seen, const Action& action) {
  if constexpr (requires { action.hint; })
    Layout::set_value_bits(target, seen, action.hint_bits, action.hint);
}

// Answers a lane with a copy of its entry; false when it was to be given a new time to live, and
// has changed since it was seen.
template <class Engine, class Action>
[[gnu::always_inline]] inline bool answer_seen(const Engine& engine,
                                               const Seen<typename Engine::Layout>& seen,
                                               const Action& action, size_t lane) {
  using Layout = typename Engine::Layout;
  if constexpr (requires { action.new_timeouts; }) {
    if (!engine.refresh_seen(seen.at, seen.timer, action.new_timeouts[lane])) return false;
  }
  if constexpr (HasWordEntries<Layout>)
    set_hint<Layout>(engine.layout().value(seen.at), seen.value, action);
  if constexpr (HasWordEntries<Layout>) {
    action(lane, Layout::value_in(seen.value));
  } else if constexpr (requires { action(lane, ValueWords{seen.value.data()}); }) {
    action(lane, ValueWords{seen.value.data()});
  } else {
    action(lane, reinterpret_cast<const std::byte*>(seen.value.data()));
  }
  return true;
}

// Answers a lane with its candidate; false if that is not its key's entry, or has changed.
template <class Engine, class Key, class Action>
[[gnu::always_inline]] inline bool answer_candidate(const Engine& engine,
                                                    const SharedCandidate<Key>& candidate,
                                                    const Action& action, size_t lane) {
  using Layout = typename Engine::Layout;
  const auto& layout = engine.layout();
  const Tag tag = layout.tag_of(candidate.hash);
  if constexpr (HasWordEntries<Layout>) {
    const uint64_t word = Layout::word_at(candidate.target);
    if (!Layout::is_of(word, tag, candidate.residence)) return false;
    set_hint<Layout>(candidate.target, word, action);
    action(lane, Layout::value_in(word));
    return true;
  } else {
    Seen<Layout> seen;
    seen.at = layout.slot_of_value(Layout::value_of_target(candidate.target));
    return engine.placement().access().is_in(seen.at.bucket, [&] {
      return busy_slots(marks_of_bucket(layout, seen.at.bucket)).has(seen.at.slot) &&
             read_slot(engine, candidate.residence, candidate.key, candidate.hash, seen);
    }) && answer_seen(engine, seen, action, lane);
  }
}

// Searches a key, and answers its lane; false when it is not there. See search_shared.
template <class Engine, class Key, class Action, class Repeated>
bool search_and_answer(const Engine& engine, const Key& key, Hash64 hash, const Action& action,
                       size_t lane, Repeated&& repeated) {
  if (!may_hold(engine.layout(), key)) return false;
  Seen<typename Engine::Layout> seen;
  while (search_shared(engine, key, hash, seen, repeated)) {
    if (answer_seen(engine, seen, action, lane)) return true;
  }
  return false;
}

}  // namespace roost
