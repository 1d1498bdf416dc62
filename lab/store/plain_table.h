// What a table is to the replies of a connection tracker: from a key to a small value, without
// expiry. It has those functions of FlowTable that a reply table calls (roost/conntrack).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lab/store/index.h"
#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/hash/hash64.h"
#include "roost/table/audit.h"
#include "roost/table/insert_outcome.h"
#include "roost/table/key_source.h"
#include "roost/table/table_image.h"

namespace roost::lab {

template <class Key>
using KeyPointers = std::span<const Key* const>;

// One thread uses it, unless it is one of those of common_values.h.
template <class Key>
class SmallValues {
 public:
  SmallValues() = default;
  SmallValues(const SmallValues&) = delete;
  SmallValues& operator=(const SmallValues&) = delete;
  virtual ~SmallValues() = default;

  // At most kIndexLanesMax keys.
  virtual size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) = 0;
  virtual bool insert(const Key& key, uint32_t value) = 0;  // false: there is no room
  virtual bool erase(const Key& key) = 0;

  [[nodiscard]] virtual uint64_t size() const = 0;
  [[nodiscard]] virtual uint64_t memory_bytes() const = 0;
};

// Makes one with room for config.entries_max keys.
template <class Key>
using MakeSmallValues =
    std::function<Result<std::unique_ptr<SmallValues<Key>>>(const TableConfig& config)>;

// What Made::create(config) makes, as such a table.
template <class Made>
Result<std::unique_ptr<SmallValues<typename Made::Key>>> make_small_values(
    const TableConfig& config) {
  Result<std::unique_ptr<Made>> made = Made::create(config);
  if (!made) return made.error();
  return std::unique_ptr<SmallValues<typename Made::Key>>(std::move(made).value());
}

// Any of them, for the datapath.
template <class KeyT>
class PlainTable {
 public:
  using Key = KeyT;
  static constexpr double kPromisedLoad = 0.95;

  explicit PlainTable(std::unique_ptr<SmallValues<Key>> values) : values_(std::move(values)) {}

  // As FlowTable's: keys by pointer, or side by side.
  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) const {
    return values_->lookup(keys, out, hits);
  }
  size_t lookup(std::span<const Key> keys, std::span<uint32_t> out, HitWords hits) const {
    ROOST_ASSERT(keys.size() <= kIndexLanesMax);
    std::array<const Key*, kIndexLanesMax> pointers;
    for (size_t lane = 0; lane < keys.size(); ++lane) pointers[lane] = &keys[lane];
    return values_->lookup(KeyPointers<Key>(pointers.data(), keys.size()), out, hits);
  }
  // Not all tables can be told ahead.
  [[nodiscard]] static Hash64 prefetch(const Key& /*key*/) { return {}; }
  size_t lookup(const PrefetchedKeys<std::span<const Key>>& asked, std::span<uint32_t> out,
                HitWords hits) const {
    return lookup(asked.keys, out, hits);
  }
  // Valid until the next find.
  [[nodiscard]] const uint32_t* find(const Key& key) {
    HitArray<1> hits;
    return lookup(std::span<const Key>(&key, 1), std::span(&found_, 1), hits) == 0 ? nullptr
                                                                                   : &found_;
  }
  [[nodiscard]] InsertOutcome insert(const Key& key, uint32_t value) {
    return values_->insert(key, value) ? InsertOutcome::kInserted : InsertOutcome::kFull;
  }
  // One by one.
  size_t upsert(const PrefetchedKeys<std::span<const Key>>& asked, std::span<uint32_t> values,
                std::span<InsertOutcome> outcomes) {
    size_t taken = 0;
    for (size_t lane = 0; lane < asked.keys.size(); ++lane) {
      const uint32_t* there = find(asked.keys[lane]);
      if (there != nullptr) values[lane] = *there;
      outcomes[lane] =
          there != nullptr ? InsertOutcome::kExisting : insert(asked.keys[lane], values[lane]);
      taken += is_refusal(outcomes[lane]) ? size_t{0} : size_t{1};
    }
    return taken;
  }
  bool erase(const Key& key) { return values_->erase(key); }
  size_t erase(const PrefetchedKeys<std::span<const Key>>& asked, HitWords erased) {
    erased.clear(asked.keys.size());
    size_t count = 0;
    for (size_t lane = 0; lane < asked.keys.size(); ++lane) {
      if (!erase(asked.keys[lane])) continue;
      erased.set(lane);
      ++count;
    }
    return count;
  }

  [[nodiscard]] uint64_t size() const { return values_->size(); }
  [[nodiscard]] uint64_t memory_bytes() const { return values_->memory_bytes(); }
  [[nodiscard]] std::optional<Violation> audit() const { return {}; }

 private:
  std::unique_ptr<SmallValues<Key>> values_;
  uint32_t found_ = 0;
};

}  // namespace roost::lab
