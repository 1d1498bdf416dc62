#include "lab/contestants/rte_hash.h"

#include <rte_hash.h>

#include <array>
#include <utility>

#include "roost/base/assert.h"

namespace roost::lab {

template <class KeyT, class ValueT>
Result<RteHashOf<KeyT, ValueT>> RteHashOf<KeyT, ValueT>::create(uint64_t slots, PageKind) {
  Result<MadeRteHash> made = make_rte_hash(slots, sizeof(KeyT));
  if (!made) return made.error();
  return RteHashOf(std::move(made).value());
}

template <class KeyT, class ValueT>
bool RteHashOf<KeyT, ValueT>::insert(const KeyT& key, const ValueT& value) {
  return rte_hash_add_key_data(table_.get(), &key, reinterpret_cast<void*>(data_of(value))) == 0;
}

template <class KeyT, class ValueT>
bool RteHashOf<KeyT, ValueT>::erase(const KeyT& key) {
  return rte_hash_del_key(table_.get(), &key) >= 0;
}

template <class KeyT, class ValueT>
void RteHashOf<KeyT, ValueT>::clear() {
  rte_hash_reset(table_.get());
}

template <class KeyT, class ValueT>
void RteHashOf<KeyT, ValueT>::lookup(std::span<const KeyT> keys, std::span<Answer> answers,
                                     HitWords hits) {
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

template <class KeyT, class ValueT>
const void* RteHashOf<KeyT, ValueT>::entry_address(const KeyT& key) const {
  void* stored = nullptr;
  const int32_t position = rte_hash_lookup(table_.get(), &key);
  if (position < 0 || rte_hash_get_key_with_position(table_.get(), position, &stored) != 0)
    return nullptr;
  return stored;
}

template <class KeyT, class ValueT>
FewestLines RteHashOf<KeyT, ValueT>::fewest_lines() const {
  return fewest_lines_of(*table_, sizeof(KeyT));
}

template class RteHashOf<Key, Value>;
template class RteHashOf<traffic::Key48, traffic::Value16>;

}  // namespace roost::lab
