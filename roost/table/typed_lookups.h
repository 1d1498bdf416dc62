// The lookups of a table by key and value types: FlowTable's, and those of a shared table's
// readers.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/table/key_source.h"
#include "roost/table/lookup_actions.h"
#include "roost/table/lookup_batch.h"

namespace roost {

// `Self` derives from it and has core(), which looks bytes up as TableCore does.
template <class Self, class Key, class Value>
class TypedLookups {
 public:
  // Copies the values of the keys that are there.
  template <class Keys>
  size_t lookup(const Keys& keys, std::span<Value> out, HitWords hits) const {
    return run_lookup(batch_of(keys), CopyValue<Value>{out}, hits);
  }
  // Answers only which keys are there.
  template <class Keys>
  size_t lookup(const Keys& keys, HitWords hits) const {
    return self().core().lookup(batch_of(keys), IgnoreValue{}, hits);
  }

  // For values that are indices of records kept elsewhere: copies the indices of the keys that are
  // there and asks for the first line of each of their records, so that it is on its way when the
  // caller comes to it.
  template <class Keys>
  size_t lookup_records(const Keys& keys, RecordArray records, std::span<Value> indices,
                        HitWords hits) const
    requires std::unsigned_integral<Value>
  {
    return run_lookup(batch_of(keys), CopyIndex<Value>{indices, records}, hits);
  }

  // Starts a lookup, to be finished by any of the functions above; the keys stay the caller's until
  // then.
  template <class Keys>
  [[nodiscard]] auto start(const Keys& keys) const {
    const auto batch = batch_of(keys);
    InFlight<decltype(batch.keys), decltype(batch.hashes)> flight{batch.keys, batch.hashes, {}};
    self().core().start(flight);
    return flight;
  }
  // Finishes `flight` as lookup does, and starts the lookup of `next_keys` while its last lines
  // arrive; `flight` becomes that one. This overlaps successive bursts best.
  template <class Flight, class Keys>
  size_t lookup_and_start(Flight& flight, std::span<Value> out, HitWords hits,
                          const Keys& next_keys) const {
    const auto batch = batch_of(flight);
    const auto next = batch_of(next_keys);
    // What was started is read before the next batch is.
    flight.keys = next.keys;
    flight.hashes = next.hashes;
    return run_lookup(batch, CopyValue<Value>{out}, hits, self().core().next(&flight));
  }

  // Asks for the line that a lookup of this key begins at, and returns the key's hash, for
  // PrefetchedKeys. For callers who come upon keys one by one, as they read packets: that work
  // overlaps the waits, where a batch of requests at once would fill the processor's buffers and
  // wait for itself.
  [[nodiscard]] Hash64 prefetch(const Key& key) const {
    const auto batch = batch_of(std::span<const Key>(&key, 1));
    return self().core().prefetch(batch.hashes(0, batch.keys[0]));
  }

  // The hashes that HashedKeys takes. They depend on the table's seed.
  template <class Keys>
  void hash_batch(const Keys& keys, std::span<Hash64> hashes) const {
    const auto batch = batch_of(keys);
    ROOST_ASSERT(hashes.size() >= batch.keys.count);
    for (size_t lane = 0; lane < batch.keys.count; ++lane)
      hashes[lane] = batch.hashes(lane, batch.keys[lane]);
  }

 protected:
  template <class Keys>
  [[nodiscard]] auto batch_of(const Keys& keys) const {
    using Hash = std::remove_cvref_t<decltype(self().core().hash())>;
    return KeyBatchOf<Key, Hash>{&self().core().hash()}(keys);
  }

  template <class Keys, class Hashes, class Action, class Next = NoNextBatch>
  size_t run_lookup(KeyBatch<Keys, Hashes> batch, Action action, HitWords hits,
                    Next next = {}) const {
    ROOST_ASSERT(action.covers(batch.keys.count));
    return self().core().lookup(batch, action, hits, next);
  }

 private:
  friend Self;
  TypedLookups() = default;

  [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace roost
