// rte_hash with small values beside its keys, which is its fast form.
#pragma once

#include <rte_hash.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "lab/contestants/rte_hash_handle.h"
#include "lab/store/plain_table.h"
#include "roost/base/assert.h"

namespace roost::lab {

// The values of those of at most kIndexLanesMax keys that are there.
template <class Key>
size_t look_up_values(const rte_hash& table, KeyPointers<Key> keys, std::span<uint32_t> out,
                      HitWords hits) {
  ROOST_ASSERT(keys.size() <= kIndexLanesMax);
  hits.clear(keys.size());
  if (keys.empty()) return 0;
  std::array<const void*, kIndexLanesMax> pointers;
  for (size_t lane = 0; lane < keys.size(); ++lane) pointers[lane] = keys[lane];
  std::array<void*, kIndexLanesMax> data;
  uint64_t found = 0;
  rte_hash_lookup_bulk_data(&table, pointers.data(), static_cast<uint32_t>(keys.size()), &found,
                            data.data());
  for (uint64_t lanes = found; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(lanes));
    out[lane] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(data[lane]));
  }
  hits.write_group(0, static_cast<uint32_t>(found));
  return static_cast<size_t>(std::popcount(found));
}

template <class Key>
[[nodiscard]] bool add_value(rte_hash& table, const Key& key, uint32_t value) {
  return rte_hash_add_key_data(&table, &key, reinterpret_cast<void*>(uintptr_t{value})) == 0;
}

// Needs a started Eal.
template <class KeyT>
class RteHashValues final : public SmallValues<KeyT> {
 public:
  using Key = KeyT;

  static Result<std::unique_ptr<RteHashValues>> create(const TableConfig& config) {
    Result<MadeRteHash> made = make_rte_hash(config.capacity, sizeof(Key));
    if (!made) return made.error();
    return std::unique_ptr<RteHashValues>(new RteHashValues(std::move(made).value()));
  }

  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) override {
    return look_up_values(*table_, keys, out, hits);
  }
  bool insert(const Key& key, uint32_t value) override { return add_value(*table_, key, value); }
  bool erase(const Key& key) override { return rte_hash_del_key(table_.get(), &key) >= 0; }

  [[nodiscard]] uint64_t size() const override {
    return static_cast<uint64_t>(rte_hash_count(table_.get()));
  }
  [[nodiscard]] uint64_t memory_bytes() const override { return table_bytes_; }

 private:
  explicit RteHashValues(MadeRteHash made)
      : table_(std::move(made.table)), table_bytes_(made.bytes) {}

  RteHashHandle table_;
  uint64_t table_bytes_;
};

}  // namespace roost::lab
