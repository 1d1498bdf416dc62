// rte_hash as an index: an entry's position is its record's index, as connection trackers on
// rte_hash have it.
#pragma once

#include <rte_hash.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lab/contestants/rte_hash_handle.h"
#include "lab/store/index.h"
#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/table/lookup_actions.h"
#include "roost/table/table_image.h"

namespace roost::lab {

// Needs a started Eal.
template <class KeyT>
class RteHashIndex final : public Index<KeyT> {
 public:
  using Key = KeyT;

  static Result<std::unique_ptr<RteHashIndex>> create(const TableConfig& config) {
    Result<MadeRteHash> made = make_rte_hash(config.capacity, sizeof(Key));
    if (!made) return made.error();
    return std::unique_ptr<RteHashIndex>(new RteHashIndex(std::move(made).value()));
  }

  size_t lookup(std::span<const Key> keys, RecordArray records, std::span<uint32_t> indices,
                HitWords hits) override {
    hits.clear(keys.size());
    if (keys.empty()) return 0;
    LanePointers pointers = pointers_to(keys);
    Positions positions;
    rte_hash_lookup_bulk(table_.get(), pointers.data(), static_cast<uint32_t>(keys.size()),
                         positions.data());
    uint32_t found = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if (positions[lane] < 0) continue;
      indices[lane] = static_cast<uint32_t>(positions[lane]);
      ask_for_record(records, indices[lane]);
      found |= uint32_t{1} << lane;
    }
    hits.write_group(0, found);
    return static_cast<size_t>(std::popcount(found));
  }

  std::optional<uint32_t> insert(const Key& key) override {
    return index_of(rte_hash_add_key(table_.get(), &key));
  }
  std::optional<uint32_t> erase(const Key& key) override {
    return index_of(rte_hash_del_key(table_.get(), &key));
  }

  // Its erasure has no form for many keys, but its lookup brings all their buckets at a time.
  void erase_all(std::span<const Key> keys) override {
    if (keys.empty()) return;
    LanePointers pointers = pointers_to(keys);
    std::array<hash_sig_t, kIndexLanesMax> hashes;
    for (size_t lane = 0; lane < keys.size(); ++lane)
      hashes[lane] = rte_hash_hash(table_.get(), pointers[lane]);
    Positions positions;
    rte_hash_lookup_with_hash_bulk(table_.get(), pointers.data(), hashes.data(),
                                   static_cast<uint32_t>(keys.size()), positions.data());
    for (size_t lane = 0; lane < keys.size(); ++lane)
      rte_hash_del_key_with_hash(table_.get(), pointers[lane], hashes[lane]);
  }

  size_t next_indices(std::span<uint32_t> indices) override {
    size_t count = 0;
    while (count < indices.size()) {
      const void* key = nullptr;
      void* data = nullptr;
      const auto index = index_of(rte_hash_iterate(table_.get(), &key, &data, &walk_at_));
      if (!index) {
        walk_at_ = 0;
        break;
      }
      indices[count++] = *index;
    }
    return count;
  }

  [[nodiscard]] Key key_at(uint32_t index) const override {
    void* stored = nullptr;
    const int found =
        rte_hash_get_key_with_position(table_.get(), static_cast<int32_t>(index), &stored);
    ROOST_ASSERT(found == 0);
    Key key;
    std::memcpy(&key, stored, sizeof(Key));
    return key;
  }

  [[nodiscard]] uint64_t index_count() const override {
    return static_cast<uint64_t>(rte_hash_max_key_id(table_.get())) + 1;
  }
  [[nodiscard]] uint64_t size() const override {
    return static_cast<uint64_t>(rte_hash_count(table_.get()));
  }
  [[nodiscard]] uint64_t memory_bytes() const override { return table_bytes_; }

 private:
  explicit RteHashIndex(MadeRteHash made)
      : table_(std::move(made.table)), table_bytes_(made.bytes) {}

  using Positions = std::array<int32_t, kIndexLanesMax>;
  using LanePointers = std::array<const void*, kIndexLanesMax>;
  [[nodiscard]] static LanePointers pointers_to(std::span<const Key> keys) {
    ROOST_ASSERT(keys.size() <= kIndexLanesMax);
    LanePointers pointers;
    for (size_t lane = 0; lane < keys.size(); ++lane) pointers[lane] = &keys[lane];
    return pointers;
  }

  static std::optional<uint32_t> index_of(int32_t position) {
    if (position < 0) return {};
    return static_cast<uint32_t>(position);
  }

  RteHashHandle table_;
  uint64_t table_bytes_;
  uint32_t walk_at_ = 0;  // rte_hash_iterate's
};

}  // namespace roost::lab
