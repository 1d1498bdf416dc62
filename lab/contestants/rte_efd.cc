#include "lab/contestants/rte_efd.h"

#include <rte_efd.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "lab/contestants/rte_hash_handle.h"

namespace roost::lab {
namespace {

// What the library does not say: chunks of 64 groups, a power of two of them, and what of a chunk
// lookups read: 256 bins of 2 bits, and for each group a hash function and a table of 16 bits for
// each bit of a value. Beside that stand the keys, with room for 28 of each group.
constexpr uint64_t kGroups = 64;
constexpr uint64_t kChunkBytes =
    256 * 2 / 8 + kGroups * RTE_EFD_VALUE_NUM_BITS * (sizeof(uint16_t) + sizeof(uint16_t));

uint64_t chunks_for(uint64_t keys) {
  constexpr uint64_t kKeysPerChunk = kGroups * EFD_TARGET_GROUP_NUM_RULES;
  return std::bit_ceil((keys + kKeysPerChunk - 1) / kKeysPerChunk);
}

}  // namespace

void RteEfdFree::operator()(rte_efd_table* table) const { rte_efd_free(table); }

template <class Key>
uint64_t RteEfd<Key>::heap_bytes(uint64_t keys) {
  constexpr uint64_t kBytesFixed = uint64_t{16} << 20;
  const uint64_t places = chunks_for(keys) * kGroups * EFD_MAX_GROUP_NUM_RULES;
  return chunks_for(keys) * 2 * kChunkBytes + places * (sizeof(Key) + 8) + kBytesFixed;
}

template <class Key>
Result<RteEfd<Key>> RteEfd<Key>::build(const ValueTableConfig& config, ValueEntries<Key> entries) {
  static int made = 0;  // names are taken once a process
  if (config.value_bits > RTE_EFD_VALUE_NUM_BITS) return Error{"its values have 8 bits"};
  const std::string name = "roost_efd_" + std::to_string(sizeof(Key)) + std::to_string(made++);
  const auto socket = static_cast<uint8_t>(rte_socket_id());
  const uint64_t bytes_before = dpdk_heap_bytes_taken();
  RteEfdHandle handle(rte_efd_create(name.c_str(), static_cast<uint32_t>(entries.size()),
                                     sizeof(Key), uint64_t{1} << socket, socket));
  if (!handle) {
    return Error{"rte_efd of " + std::to_string(entries.size()) +
                 " keys: " + rte_strerror(rte_errno)};
  }
  RteEfd table(std::move(handle), chunks_for(entries.size()) * kChunkBytes,
               dpdk_heap_bytes_taken() - bytes_before);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (table.put(entries[i].key, entries[i].value) != compact::ChangeOutcome::kDone)
      return Error{"it found no functions after " + std::to_string(i) + " keys"};
  }
  return table;
}

template <class Key>
void RteEfd<Key>::lookup(std::span<const Key> keys, std::span<uint32_t> answers,
                         HitWords hits) const {
  constexpr size_t kLanesPerCall = RTE_EFD_BURST_MAX;
  std::array<const void*, kLanesPerCall> pointers;
  std::array<efd_value_t, kLanesPerCall> values;
  for (size_t first = 0; first < keys.size(); first += kLanesPerCall) {
    const size_t count = std::min(kLanesPerCall, keys.size() - first);
    for (size_t lane = 0; lane < count; ++lane) pointers[lane] = &keys[first + lane];
    rte_efd_lookup_bulk(table_.get(), rte_socket_id(), static_cast<int>(count), pointers.data(),
                        values.data());
    for (size_t lane = 0; lane < count; ++lane) answers[first + lane] = values[lane];
    hits.write_group(first, static_cast<uint32_t>((uint64_t{1} << count) - 1));
  }
}

template <class Key>
compact::ChangeOutcome RteEfd<Key>::put(const Key& key, uint32_t value) {
  const int outcome =
      rte_efd_update(table_.get(), rte_socket_id(), &key, static_cast<efd_value_t>(value));
  return outcome == RTE_EFD_UPDATE_FAILED ? compact::ChangeOutcome::kNoRoom
                                          : compact::ChangeOutcome::kDone;
}
template <class Key>
compact::ChangeOutcome RteEfd<Key>::erase(const Key& key) {
  return rte_efd_delete(table_.get(), rte_socket_id(), &key, nullptr) == 0
             ? compact::ChangeOutcome::kDone
             : compact::ChangeOutcome::kNotFound;
}

template class RteEfd<uint64_t>;
template class RteEfd<traffic::Key104>;

}  // namespace roost::lab
