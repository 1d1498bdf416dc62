#include "lab/contestants/rte_hash_values.h"

#include <rte_hash.h>

#include <algorithm>
#include <array>

namespace roost::lab {

template <class Key>
Result<RteHashValues<Key>> RteHashValues<Key>::build(const ValueTableConfig& config,
                                                     ValueEntries<Key> entries) {
  const double slots = static_cast<double>(entries.size()) / config.load;
  auto made = make_rte_hash(static_cast<uint64_t>(slots), sizeof(Key));
  if (!made) return made.error();
  RteHashValues table(std::move(made).value());
  for (const ValueEntry<Key>& entry : entries)
    if (!table.put(entry.key, entry.value)) return Error{"it refused a key"};
  return table;
}

template <class Key>
void RteHashValues<Key>::lookup(std::span<const Key> keys, std::span<uint32_t> answers,
                                HitWords hits) const {
  constexpr size_t kLanesPerCall = 64;
  std::array<const void*, kLanesPerCall> pointers;
  std::array<void*, kLanesPerCall> data{};
  for (size_t first = 0; first < keys.size(); first += kLanesPerCall) {
    const size_t count = std::min(kLanesPerCall, keys.size() - first);
    for (size_t lane = 0; lane < count; ++lane) pointers[lane] = &keys[first + lane];
    uint64_t found = 0;
    rte_hash_lookup_bulk_data(made_.table.get(), pointers.data(), static_cast<uint32_t>(count),
                              &found, data.data());
    hits.words()[first / kLanesPerCall] = found;
    for (size_t lane = 0; lane < count; ++lane)
      answers[first + lane] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(data[lane]));
  }
}

template <class Key>
compact::ChangeOutcome RteHashValues<Key>::insert(const Key& key, uint32_t value) {
  if (has(key)) return compact::ChangeOutcome::kThere;
  return put(key, value) ? compact::ChangeOutcome::kDone : compact::ChangeOutcome::kNoRoom;
}
template <class Key>
compact::ChangeOutcome RteHashValues<Key>::update(const Key& key, uint32_t value) {
  if (!has(key)) return compact::ChangeOutcome::kNotFound;
  return put(key, value) ? compact::ChangeOutcome::kDone : compact::ChangeOutcome::kNoRoom;
}
template <class Key>
compact::ChangeOutcome RteHashValues<Key>::erase(const Key& key) {
  return rte_hash_del_key(made_.table.get(), &key) >= 0 ? compact::ChangeOutcome::kDone
                                                        : compact::ChangeOutcome::kNotFound;
}

template <class Key>
bool RteHashValues<Key>::has(const Key& key) const {
  return rte_hash_lookup(made_.table.get(), &key) >= 0;
}
template <class Key>
bool RteHashValues<Key>::put(const Key& key, uint32_t value) {
  return rte_hash_add_key_data(made_.table.get(), &key,
                               reinterpret_cast<void*>(uintptr_t{value})) == 0;
}

template class RteHashValues<uint64_t>;
template class RteHashValues<traffic::Key104>;

}  // namespace roost::lab
