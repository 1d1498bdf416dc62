#include "lab/contestants/rte_hash_records.h"

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>

#include <array>
#include <bit>
#include <string>
#include <utility>

#include "roost/base/assert.h"

namespace roost::lab {
namespace {

// Bytes handed out by DPDK's heap.
uint64_t heap_bytes_taken() {
  rte_malloc_socket_stats stats{};
  return rte_malloc_get_socket_stats(static_cast<int>(rte_socket_id()), &stats) == 0
             ? stats.heap_allocsz_bytes
             : 0;
}

}  // namespace

RteHashRecords::RteHashRecords(std::unique_ptr<rte_hash, Free> table, uint64_t table_bytes,
                               Arena records)
    : table_(std::move(table)), table_bytes_(table_bytes), records_(std::move(records)) {}

Result<RteHashRecords> RteHashRecords::create(uint64_t slots, PageKind pages) {
  static int made = 0;  // names are taken once a process
  const std::string name = "roost_lab_records_" + std::to_string(made++);
  rte_hash_parameters parameters{};
  parameters.name = name.c_str();
  parameters.entries = static_cast<uint32_t>(slots);
  parameters.key_len = sizeof(Key);
  parameters.hash_func = rte_hash_crc;
  parameters.socket_id = static_cast<int>(rte_socket_id());
  const uint64_t bytes_before = heap_bytes_taken();
  std::unique_ptr<rte_hash, Free> table(rte_hash_create(&parameters));
  if (!table) {
    return Error{"rte_hash of " + std::to_string(slots) + " entries: " + rte_strerror(rte_errno)};
  }
  const auto position_max = static_cast<uint64_t>(rte_hash_max_key_id(table.get()));
  Result<Arena> records = Arena::map((position_max + 1) * sizeof(Record), {.pages = pages});
  if (!records) return records.error();
  return RteHashRecords(std::move(table), heap_bytes_taken() - bytes_before,
                        std::move(records).value());
}

bool RteHashRecords::insert(const Key& key, const Value& value) {
  const int32_t position = rte_hash_add_key(table_.get(), &key);
  if (position < 0) return false;
  records()[position].value = value;
  return true;
}

bool RteHashRecords::erase(const Key& key) { return rte_hash_del_key(table_.get(), &key) >= 0; }

void RteHashRecords::clear() { rte_hash_reset(table_.get()); }

void RteHashRecords::lookup(std::span<const Key> keys, std::span<Value> answers, HitWords hits) {
  ROOST_ASSERT(keys.size() <= kLanesPerCallMax);
  std::array<const void*, kLanesPerCallMax> pointers;
  for (size_t lane = 0; lane < keys.size(); ++lane) pointers[lane] = &keys[lane];
  std::array<int32_t, kLanesPerCallMax> positions;
  rte_hash_lookup_bulk(table_.get(), pointers.data(), static_cast<uint32_t>(keys.size()),
                       positions.data());
  uint32_t found = 0;
  for (size_t lane = 0; lane < keys.size(); ++lane) found |= uint32_t{positions[lane] >= 0} << lane;
  for (uint32_t lanes = found; lanes != 0; lanes &= lanes - 1)
    rte_prefetch0(&records()[positions[static_cast<size_t>(std::countr_zero(lanes))]]);
  for (uint32_t lanes = found; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(lanes));
    answers[lane] = records()[positions[lane]].value;
  }
  hits.write_group(0, found);
}

const void* RteHashRecords::entry_address(const Key& key) const {
  const int32_t position = rte_hash_lookup(table_.get(), &key);
  return position < 0 ? nullptr : &records()[position];
}

FewestLines RteHashRecords::fewest_lines() const {
  constexpr uint64_t kSlotsPerBucket = 8;
  constexpr uint64_t kBucketBytes = 64;
  constexpr uint64_t kEntryBytes = 32;  // key and data, up to the key's alignment
  const uint64_t slots = static_cast<uint64_t>(rte_hash_max_key_id(table_.get())) + 1;
  return {.first_bytes = slots / kSlotsPerBucket * kBucketBytes,
          .second_bytes = slots * kEntryBytes};
}

void RteHashRecords::Free::operator()(rte_hash* table) const { rte_hash_free(table); }

}  // namespace roost::lab
