// Work of the control thread on the whole forwarding database, in pieces: nobody waits for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "roost/base/hit_words.h"
#include "roost/bridge/fdb.h"

namespace roost::bridge {

// Calls visit(key, value) for each entry, while they change: what is there throughout is visited
// once at least.
template <class Visit>
void walk(Fdb& fdb, Visit&& visit) {
  auto walk = fdb.walk();
  while (walk.visit(UINT64_MAX, visit)) {
  }
}

// How many of these keys have static entries.
inline uint64_t count_static(const Fdb& fdb, std::span<const FdbKey> keys) {
  constexpr size_t kPiece = 64;
  const auto reader = fdb.reader();
  std::array<FdbValue, kPiece> values;
  HitArray<kPiece> hits;
  uint64_t count = 0;
  for (; !keys.empty(); keys = keys.subspan(std::min(kPiece, keys.size()))) {
    const auto piece = keys.first(std::min(kPiece, keys.size()));
    reader.lookup(piece, std::span(values), hits);
    for (size_t i = 0; i < piece.size(); ++i)
      count += hits.test(i) && values[i].is_static() ? 1U : 0U;
  }
  return count;
}

// Calls change(writer, item) for each item. Workers may write again after every few of them.
template <class Item, class Change>
void write_in_pieces(Fdb& fdb, std::span<const Item> items, Change&& change) {
  constexpr size_t kPiece = 64;
  for (; !items.empty(); items = items.subspan(std::min(kPiece, items.size()))) {
    Fdb::Writer writer = fdb.write();
    for (const Item& item : items.first(std::min(kPiece, items.size()))) change(writer, item);
  }
}

// Erases the entries that are wanted(key, value), as long as may_go(writer, value) is true as well;
// how many those were. Both are asked again with the right to write.
template <class Wanted, class MayGo>
uint64_t erase_from_fdb(Fdb& fdb, Wanted&& wanted, MayGo&& may_go) {
  constexpr uint64_t kBuckets = 4'096;
  uint64_t erased = 0;
  std::vector<FdbKey> found;
  auto walk = fdb.walk();
  for (bool has_more = true; has_more;) {
    found.clear();
    has_more = walk.visit(kBuckets, [&](const FdbKey& key, FdbValue value) {
      if (wanted(key, value)) found.push_back(key);
    });
    write_in_pieces(
        fdb, std::span<const FdbKey>(found), [&](Fdb::Writer& writer, const FdbKey& key) {
          const bool is_erased = writer.erase_if(
              key, [&](FdbValue value) { return wanted(key, value) && may_go(writer, value); });
          erased += is_erased ? 1U : 0U;
        });
  }
  return erased;
}
template <class Wanted>
uint64_t erase_from_fdb(Fdb& fdb, Wanted&& wanted) {
  return erase_from_fdb(fdb, wanted, [](const Fdb::Writer&, FdbValue) { return true; });
}

}  // namespace roost::bridge
