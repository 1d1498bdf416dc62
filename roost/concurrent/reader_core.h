// What looks bytes up for one reader of a shared table: the table's core, with counts and a choice
// of hints of the reader's own.
#pragma once

#include <cstddef>

#include "roost/base/hit_words.h"
#include "roost/table/hint_choice.h"
#include "roost/table/key_source.h"
#include "roost/table/lookup_batch.h"
#include "roost/table/table_core.h"

namespace roost {

// Threads: one at a time. It must not outlive the table.
template <class Core>
class ReaderCore {
 public:
  using Probe = typename Core::Probe;

  explicit ReaderCore(const Core& core) : core_(&core), state_(core.new_lookup_state()) {}

  template <class Keys, class Hashes, class Action, class Next>
  size_t lookup(KeyBatch<Keys, Hashes> batch, Action action, HitWords hits, Next next) const {
    return core_->lookup(state_, batch, action, hits, next);
  }
  template <class Flight>
  void start(Flight& flight) const {
    core_->start(state_, flight);
  }
  template <class Flight>
  [[nodiscard]] NextBatch<ReaderCore, Flight> next(Flight* flight) const {
    return {this, flight};
  }
  [[nodiscard]] const auto& hash() const { return core_->hash(); }
  [[nodiscard]] const auto& engine() const { return core_->engine(); }
  [[nodiscard]] Probe& probe() const { return state_.probe; }
  [[nodiscard]] HintChoice& hint_choice() const { return state_.hints; }

 private:
  const Core* core_;
  mutable LookupState<Probe> state_;
};

}  // namespace roost
