// What a table is to a connection tracker that keeps its records elsewhere (CT-01): from a key to
// the index of a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/isa/prefetch.h"
#include "roost/table/lookup_actions.h"
#include "roost/table/table_image.h"

namespace roost::lab {

inline constexpr size_t kIndexLanesMax = 32;

// Asks for the first line of a record.
inline void ask_for_record(RecordArray records, uint32_t index) {
  prefetch(PrefetchHint::kT0,
           static_cast<const std::byte*>(records.base) + index * records.stride_bytes);
}

// One thread uses it, unless its maker says otherwise.
template <class Key>
class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  virtual ~Index() = default;

  // The indices of the keys that are there, at most kIndexLanesMax keys; asks for the first line of
  // each of their records. Returns how many.
  virtual size_t lookup(std::span<const Key> keys, RecordArray records, std::span<uint32_t> indices,
                        HitWords hits) = 0;
  // The index of a key; one that has none gets a free one. Nothing: there is no room.
  virtual std::optional<uint32_t> insert(const Key& key) = 0;
  // Takes a key out; its index is free again. Nothing: it was not there.
  virtual std::optional<uint32_t> erase(const Key& key) = 0;
  // Takes keys out that are there, at most kIndexLanesMax.
  virtual void erase_all(std::span<const Key> keys) {
    for (const Key& key : keys) erase(key);
  }
  // Asks for what key_at() reads, if that can be told.
  virtual void ask_for_key(uint32_t /*index*/) const {}
  // The indices of the entries that follow in the table's own order, which goes round; fewer than
  // there is room for, or none, at its end, or if the table has no order that can be followed.
  // Entries may come and go between two calls.
  virtual size_t next_indices(std::span<uint32_t> /*indices*/) { return 0; }
  // The key that was given this index last.
  [[nodiscard]] virtual Key key_at(uint32_t index) const = 0;

  [[nodiscard]] virtual uint64_t index_count() const = 0;  // indices are less
  [[nodiscard]] virtual uint64_t size() const = 0;
  [[nodiscard]] virtual uint64_t memory_bytes() const = 0;
};

// Makes an index with room for config.entries_max keys.
template <class Key>
using MakeIndex = std::function<Result<std::unique_ptr<Index<Key>>>(const TableConfig& config)>;

// What Made::create(config) makes, as an index.
template <class Made>
Result<std::unique_ptr<Index<typename Made::Key>>> make_index(const TableConfig& config) {
  Result<std::unique_ptr<Made>> made = Made::create(config);
  if (!made) return made.error();
  return std::unique_ptr<Index<typename Made::Key>>(std::move(made).value());
}

}  // namespace roost::lab
