#include "lab/contestants/rte_hash_records.h"

#include <rte_hash.h>
#include <rte_prefetch.h>

#include <array>
#include <bit>
#include <utility>

#include "roost/base/assert.h"

namespace roost::lab {

RteHashRecords::RteHashRecords(RteHashHandle table, uint64_t table_bytes, Arena records)
    : table_(std::move(table)), table_bytes_(table_bytes), records_(std::move(records)) {}

Result<RteHashRecords> RteHashRecords::create(uint64_t slots, PageKind pages) {
  Result<MadeRteHash> made = make_rte_hash(slots, sizeof(Key));
  if (!made) return made.error();
  auto [table, table_bytes] = std::move(made).value();
  const auto position_max = static_cast<uint64_t>(rte_hash_max_key_id(table.get()));
  Result<Arena> records = Arena::map((position_max + 1) * sizeof(Record), {.pages = pages});
  if (!records) return records.error();
  return RteHashRecords(std::move(table), table_bytes, std::move(records).value());
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

FewestLines RteHashRecords::fewest_lines() const { return fewest_lines_of(*table_, sizeof(Key)); }

}  // namespace roost::lab
