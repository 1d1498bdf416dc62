#include "lab/contestants/rte_hash.h"

#include <rte_hash.h>

#include <array>
#include <utility>

#include "roost/base/assert.h"

namespace roost::lab {

Result<RteHash> RteHash::create(uint64_t slots, PageKind) {
  Result<MadeRteHash> made = make_rte_hash(slots, sizeof(Key));
  if (!made) return made.error();
  return RteHash(std::move(made).value());
}

bool RteHash::insert(const Key& key, const Value& value) {
  return rte_hash_add_key_data(table_.get(), &key, reinterpret_cast<void*>(value.words[0])) == 0;
}

bool RteHash::erase(const Key& key) { return rte_hash_del_key(table_.get(), &key) >= 0; }

void RteHash::clear() { rte_hash_reset(table_.get()); }

void RteHash::lookup(std::span<const Key> keys, std::span<Answer> answers, HitWords hits) {
  // The call takes an array of pointers to keys; making it is part of using the table.
  ROOST_ASSERT(keys.size() <= kLanesPerCallMax);
  std::array<const void*, kLanesPerCallMax> pointers;
  for (size_t lane = 0; lane < keys.size(); ++lane) pointers[lane] = &keys[lane];
  uint64_t hit_mask = 0;
  rte_hash_lookup_bulk_data(table_.get(), pointers.data(), static_cast<uint32_t>(keys.size()),
                            &hit_mask, answers.data());
  hits.write_group(0, static_cast<uint32_t>(hit_mask));
  if (keys.size() > 32) hits.write_group(32, static_cast<uint32_t>(hit_mask >> 32));
}

const void* RteHash::entry_address(const Key& key) const {
  void* stored = nullptr;
  const int32_t position = rte_hash_lookup(table_.get(), &key);
  if (position < 0 || rte_hash_get_key_with_position(table_.get(), position, &stored) != 0)
    return nullptr;
  return stored;
}

FewestLines RteHash::fewest_lines() const { return fewest_lines_of(*table_); }

}  // namespace roost::lab
