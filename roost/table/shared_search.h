// The search for a key while the table may change: what is found is a copy, and looked at until
// nothing has changed meanwhile.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "roost/hash/bucket_map.h"
#include "roost/hash/hash64.h"
#include "roost/isa/scalar.h"
#include "roost/table/access.h"
#include "roost/table/layout.h"

namespace roost {

// A layout whose entries are one word: a hit needs nothing but to read it again.
template <class Layout>
concept HasWordEntries = requires(const std::byte* target) {
  { Layout::word_at(target) } -> std::same_as<uint64_t>;
};

// What a reader saw of an entry.
template <class Layout>
struct Seen {
  SlotRef at;
  SeenTimer timer;  // where entries expire
  typename Layout::ValueCopy value;
};

// What a bucket's line says of its slots, and of where its lookups go on: a copy, or where that is
// in no field, the line.
template <class Layout>
[[nodiscard]] decltype(auto) marks_of_bucket(const Layout& layout, BucketIndex bucket) {
  if constexpr (HasWordEntries<Layout>) {
    return layout.line_at(bucket);
  } else {
    return Layout::Access::marks(layout.line_at(bucket));
  }
}

// Reads the entry in a busy slot; false when it is not live, or another key's.
template <class Engine>
[[nodiscard, gnu::always_inline]] inline bool read_slot(const Engine& engine, Residence residence,
                                                        const std::byte* key, Hash64 hash,
                                                        Seen<typename Engine::Layout>& seen) {
  using Layout = typename Engine::Layout;
  const Layout& layout = engine.layout();
  if constexpr (Engine::kExpires) {
    seen.timer = Layout::Access::timer(layout.line_at(seen.at.bucket), seen.at.slot);
    if (!engine.is_live(seen.timer.timer())) return false;
  }
  if (!layout.read_value(seen.at, key, layout.tag_of(hash), residence, seen.value)) return false;
  if constexpr (StoresKeys<Layout>) return true;
  return !layout.is_stash(seen.at.bucket) || layout.home(seen.at) == engine.map().primary(hash);
}

// Reads a bucket, of which `marks` is known; false when the key is not there.
template <class Engine>
[[nodiscard]] bool read_bucket(const Engine& engine, BucketIndex bucket, Residence residence,
                               const std::byte* key, Hash64 hash,
                               const typename Engine::Line& marks,
                               Seen<typename Engine::Layout>& seen) {
  using Layout = typename Engine::Layout;
  const Layout& layout = engine.layout();
  SlotMask slots = layout.read_candidates(layout.line_at(bucket), layout.tag_of(hash), residence);
  if constexpr (!Layout::kCandidatesAreBusy) slots = slots & busy_slots(marks);
  for (const unsigned slot : slots) {
    seen.at = {bucket, slot};
    if (read_slot(engine, residence, key, hash, seen)) return true;
  }
  return false;
}

// Calls visit(padded key, value) with a copy of each live entry of a bucket, all of which are whole
// if nothing has changed meanwhile.
template <class Engine, class Visit>
void copy_bucket(const Engine& engine, BucketIndex bucket, Visit&& visit) {
  using Layout = typename Engine::Layout;
  const Layout& layout = engine.layout();
  const typename Layout::Line line = Layout::Access::copy(layout.line_at(bucket));
  for (const unsigned slot : engine.template live_slots<ScalarKernel>(line)) {
    const SlotRef at{bucket, slot};
    if constexpr (Layout::kCandidatesAreExact) {
      const auto key = engine.placement().padded_key_in(line, at);
      visit(static_cast<const std::byte*>(key), layout.target(line, slot));
    } else {
      std::array<std::byte, Layout::Entry::kBytesMax> entry;
      Layout::Access::read(entry.data(), layout.key(at), layout.entry().bytes());
      visit(entry.data(), Layout::value_of_target(entry.data()));
    }
  }
}

// Searches all places of a key. What `seen` gets is as it was at some moment of the call; false
// when the key was in none of its places at such a moment. `repeated()` is called before each
// further search.
template <class Engine, class Repeated>
[[nodiscard]] bool search_shared(const Engine& engine, const std::byte* key, Hash64 hash,
                                 Seen<typename Engine::Layout>& seen, Repeated&& repeated) {
  constexpr Sought kFound =
      HasWordEntries<typename Engine::Layout> ? Sought::kWord : Sought::kWords;
  const auto& placement = engine.placement();
  const auto& layout = engine.layout();
  const Tag tag = layout.tag_of(hash);
  const BucketIndex primary = engine.map().primary(hash);
  const BucketIndex other = placement.secondary(primary, layout.line_at(primary), tag);
  const auto is_in = [&](BucketIndex bucket, Residence residence,
                         const typename Engine::Line& marks) {
    return read_bucket(engine, bucket, residence, key, hash, marks, seen);
  };
  const auto search = [&] {
    const auto& marks = marks_of_bucket(layout, primary);
    if (is_in(primary, Residence::kPrimary, marks)) return kFound;
    if (!placement.may_be_displaced(marks, tag)) return Sought::kNothing;
    if (is_in(other, Residence::kDisplaced, marks_of_bucket(layout, other))) return kFound;
    if (!placement.may_be_stashed(marks)) return Sought::kNothing;
    const bool is_stashed = placement.for_each_stash_bucket([&](BucketIndex bucket) {
      return is_in(bucket, Residence::kDisplaced, marks_of_bucket(layout, bucket));
    });
    return is_stashed ? Sought::kWords : Sought::kNothing;  // the entry and its home
  };
  return placement.access().search(primary, other, search, repeated);
}

}  // namespace roost
