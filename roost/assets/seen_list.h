// What was seen, by key, in places of a fixed number; when all are taken, the entry that was unseen
// for longest leaves.
//
//   places_   key -> place, a flow table
//   entries_  an array; newest_ <-> ... <-> oldest_, in the order of the last calls
//
// Seeing a key costs a lookup and four links. The order is that of the calls, whatever a tick is.
//
// I1 Entries stand in the places 0 to size() - 1: one leaves only when another one comes.
// I2 places_ has these keys and no other, each with its entry's place.
// I3 The list passes each entry once, from newest_ to oldest_, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/memory/arena.h"
#include "roost/table/flow_table.h"

namespace roost::assets {

// One thread at a time. `Key` as of a FlowTable.
template <class Key, class Value>
class SeenList {
 public:
  struct Entry {
    Key key{};
    Value value{};
    Tick first{};
    Tick last{};
    uint32_t newer = kNone;
    uint32_t older = kNone;
  };
  struct Seen {
    uint32_t place = 0;
    bool is_new = false;
  };

  // Errors: no entries, or memory is unavailable.
  static Result<SeenList> create(uint32_t entries_max, std::optional<uint64_t> hash_seed) {
    auto places = Places::create({.entries_max = entries_max, .hash_seed = hash_seed});
    if (!places) return places.error();
    auto memory = Arena::map(uint64_t{entries_max} * sizeof(Entry));
    if (!memory) return memory.error();
    return SeenList(std::move(places).value(), std::move(memory).value(), entries_max);
  }

  // The key's entry is the newest one. A new one has a default value; before another one gives way
  // to it, leave(place, entry) is called. Constant time.
  template <class Leave>
  Seen see(const Key& key, Tick now, Leave&& leave) {
    if (const uint32_t* const found = places_.find(key)) {
      const uint32_t place = *found;
      entries_[place].last = now;
      if (place != newest_) {
        unlink(place);
        link_newest(place);
      }
      return {place, false};
    }
    auto place = static_cast<uint32_t>(size_);
    if (size_ < entries_.size()) {
      ++size_;
    } else {
      place = oldest_;
      leave(place, std::as_const(entries_[place]));
      const bool was_there = places_.erase(entries_[place].key);
      ROOST_ASSERT(was_there);
      unlink(place);
    }
    entries_[place] = {.key = key, .first = now, .last = now};
    const bool has_room = !is_refusal(places_.insert(key, place));
    ROOST_ASSERT(has_room);  // promised by entries_max
    link_newest(place);
    return {place, true};
  }

  // nullptr: it is not there. It does not count as seen.
  [[nodiscard]] Entry* find(const Key& key) {
    const uint32_t* const place = places_.find(key);
    return place == nullptr ? nullptr : &entries_[*place];
  }
  [[nodiscard]] Entry& at(uint32_t place) { return entries_[place]; }
  [[nodiscard]] uint32_t place_of(const Entry& entry) const {
    return static_cast<uint32_t>(&entry - entries_.data());
  }
  [[nodiscard]] std::span<const Entry> entries() const { return {entries_.data(), size_}; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] uint64_t memory_bytes() const {
    return places_.memory_bytes() + entries_.size() * sizeof(Entry);
  }

  // Whether I1 to I3 hold. Time linear in the size.
  [[nodiscard]] bool audit() {
    size_t passed = 0;
    uint32_t newer = kNone;
    for (uint32_t place = newest_; place != kNone; place = entries_[place].older) {
      if (place >= size_ || ++passed > size_ || entries_[place].newer != newer) return false;
      if (find(entries_[place].key) != &entries_[place]) return false;
      newer = place;
    }
    return passed == size_ && newer == oldest_ && places_.size() == size_;
  }

 private:
  using Places = FlowTable<Key, uint32_t>;
  static constexpr uint32_t kNone = UINT32_MAX;

  SeenList(Places places, Arena memory, uint32_t entries_max)
      : places_(std::move(places)),
        memory_(std::move(memory)),
        entries_(reinterpret_cast<Entry*>(memory_.data()), entries_max) {
    static_assert(std::is_trivially_copyable_v<Entry>, "an entry begins as zeroed bytes");
  }

  void unlink(uint32_t place) {
    const Entry& entry = entries_[place];
    (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
    (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
  }
  void link_newest(uint32_t place) {
    entries_[place].newer = kNone;
    entries_[place].older = newest_;
    (newest_ == kNone ? oldest_ : entries_[newest_].newer) = place;
    newest_ = place;
  }

  Places places_;
  Arena memory_;
  std::span<Entry> entries_;  // in the arena
  size_t size_ = 0;
  uint32_t newest_ = kNone;
  uint32_t oldest_ = kNone;
};

}  // namespace roost::assets
