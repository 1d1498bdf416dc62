// See exact_match_cache.h.
#include "roost/classify/exact_match_cache.h"

#include "roost/base/assert.h"

namespace roost::classify {

Result<ExactMatchCache> ExactMatchCache::create(uint32_t entries, const HashConfig& hashing) {
  ROOST_ASSERT(entries >= 1);
  Result<Table> table = Table::create({.entries_max = entries});
  if (!table) return table.error();
  return ExactMatchCache(entries, hashing, std::move(table).value());
}

LaneMask ExactMatchCache::lookup_numbers(const uint64_t* digests, LaneMask lanes,
                                         uint32_t* numbers) const {
  const RecordArray records{.base = entries_.data(), .stride_bytes = sizeof(Entry)};
  return lookup_lanes<Key>(
      lanes, [&](size_t lane) { return Key{digests[lane]}; },
      [&](std::span<const Key> keys, std::span<uint32_t> found, HitWords hits) {
        table_.lookup_records(keys, records, found, hits);
      },
      numbers);
}

uint32_t ExactMatchCache::make_room() {
  if (entries_.size() < entries_max_) {
    entries_.emplace_back();
    return static_cast<uint32_t>(entries_.size() - 1);
  }
  for (;;) {
    const uint32_t number = hand_;
    hand_ = hand_ + 1 == entries_.size() ? 0 : hand_ + 1;
    Entry& entry = entries_[number];
    if (entry.is_live && entry.had_hit) {
      entry.had_hit = false;
      continue;
    }
    if (entry.is_live) table_.erase(Key{entry.digest});
    entry.is_live = false;
    return number;
  }
}

void ExactMatchCache::keep(const PacketFields& packet, uint64_t digest,
                           const AnswerSource& source) {
  const Key key{digest};
  uint32_t number = 0;
  if (const uint32_t* there = table_.find(key); there != nullptr) {
    number = *there;
  } else {
    number = make_room();
    if (table_.insert(key, number) == InsertOutcome::kFull) return;  // chosen to collide
  }
  entries_[number] = {.digest = digest, .source = source, .is_live = true};
  if (source.megaflow != kNoMegaflow) return;
  if (fields_.size() <= number) fields_.resize(number + size_t{1});
  fields_[number] = packet;
}

std::optional<std::string> ExactMatchCache::audit() {
  uint64_t live = 0;
  for (uint32_t number = 0; number < entries_.size(); ++number) {
    if (!entries_[number].is_live) continue;
    ++live;
    const uint32_t* there = table_.find(Key{entries_[number].digest});
    if (there == nullptr || *there != number) {
      return "I1: entry " + std::to_string(number) + " is not found by its digest";
    }
  }
  if (live != table_.size()) return "I1: the table leads to entries that are not live";
  return std::nullopt;
}

}  // namespace roost::classify
