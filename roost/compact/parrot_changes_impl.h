// Definitions of BasicParrotBuilder: changes, and what it says of itself. What changes in a bucket
// changes in one step: readers see all of it or nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "roost/base/assert.h"
#include "roost/compact/parrot_builder.h"

namespace roost::compact {

template <class Words>
ChangeOutcome BasicParrotBuilder<Words>::insert(uint64_t key, uint32_t value) {
  if (!is_valid(key, value)) return ChangeOutcome::kTooWide;
  const Place place = place_of(key);
  if (place.stash || place.slot) return ChangeOutcome::kThere;
  const auto changing = step(place.bucket);
  const bool has_slot =
      config_.policy == InsertionPolicy::kReseed && put_in_slots(place.bucket, {key, value});
  const ChangeOutcome outcome =
      has_slot ? ChangeOutcome::kDone : put_in_stash(place.bucket, {key, value});
  if (outcome == ChangeOutcome::kDone) ++size_;
  return outcome;
}

template <class Words>
ChangeOutcome BasicParrotBuilder<Words>::update(uint64_t key, uint32_t value) {
  if (!is_valid(key, value)) return ChangeOutcome::kTooWide;
  const Place place = place_of(key);
  const auto changing = step(place.bucket);
  if (place.stash) {
    write_entry(*place.stash, {key, value});
    return ChangeOutcome::kDone;
  }
  if (!place.slot) return ChangeOutcome::kNotFound;
  if (config_.policy == InsertionPolicy::kStash) return put_in_stash(place.bucket, {key, value});
  write_slot(place.bucket, *place.slot, {key, value});
  return ChangeOutcome::kDone;
}

// A value that the stash has shadowed goes too: else it would come back.
template <class Words>
ChangeOutcome BasicParrotBuilder<Words>::erase(uint64_t key) {
  const Place place = place_of(key);
  if (!place.stash && !place.slot) return ChangeOutcome::kNotFound;
  const auto changing = step(place.bucket);
  if (place.stash) {
    std::vector<ParrotEntry> run = run_of(place.bucket);
    std::erase_if(run, [&](const ParrotEntry& entry) { return entry.key == key; });
    const bool has_room = write_run(place.bucket, run);
    ROOST_ASSERT(has_room);
  }
  if (place.slot) clear_slot(place.bucket, *place.slot);
  --size_;
  return ChangeOutcome::kDone;
}

template <class Words>
std::optional<uint32_t> BasicParrotBuilder<Words>::find(uint64_t key) const {
  const Place place = place_of(key);
  if (place.stash) return reader().stash_entry(*place.stash).value;
  if (place.slot) return bucket(place.bucket).value(*place.slot);
  return {};
}

template <class Words>
bool BasicParrotBuilder<Words>::is_valid(uint64_t key, uint32_t value) const {
  return key <= head_.shape.key_mask() && value < head_.shape.absent();
}

template <class Words>
auto BasicParrotBuilder<Words>::place_of(uint64_t key) const -> Place {
  const ParrotReader& table = reader();
  Place place{.bucket = table.model().bucket_of(key)};
  const ParrotBucket<StillImage> at = bucket(place.bucket);
  const StashWord stash = at.stash();
  for (uint64_t i = stash.first(); i < stash.first() + stash.count(); ++i)
    if (table.stash_entry(i).key == key) place.stash = i;
  const size_t slot = slot_of(key, at.seed());
  if (!at.is_empty(slot) && slot_keys_[place.bucket * kBucketSlots + slot] == key)
    place.slot = slot;
  return place;
}

template <class Words>
std::vector<ParrotEntry> BasicParrotBuilder<Words>::slots_of(uint64_t index) const {
  std::vector<ParrotEntry> entries;
  const ParrotBucket<StillImage> at = bucket(index);
  for (size_t slot = 0; slot < kBucketSlots; ++slot) {
    if (at.is_empty(slot)) continue;
    entries.push_back({slot_keys_[index * kBucketSlots + slot], at.value(slot)});
  }
  return entries;
}

template <class Words>
std::vector<ParrotEntry> BasicParrotBuilder<Words>::run_of(uint64_t index) const {
  std::vector<ParrotEntry> entries;
  const ParrotReader& table = reader();
  const StashWord stash = bucket(index).stash();
  for (uint64_t i = stash.first(); i < stash.first() + stash.count(); ++i) {
    const ParrotReader::StashEntry entry = table.stash_entry(i);
    entries.push_back({entry.key, entry.value});
  }
  return entries;
}

template <class Words>
bool BasicParrotBuilder<Words>::put_in_slots(uint64_t index, const ParrotEntry& entry) {
  std::vector<ParrotEntry> entries = slots_of(index);
  if (entries.size() == kBucketSlots) return false;
  entries.push_back(entry);
  std::vector<uint64_t> keys(entries.size());
  std::ranges::transform(entries, keys.begin(), &ParrotEntry::key);
  const auto seed = find_seed(keys);
  if (!seed) return false;
  write_slots(index, *seed, entries);
  return true;
}

template <class Words>
ChangeOutcome BasicParrotBuilder<Words>::put_in_stash(uint64_t index, const ParrotEntry& entry) {
  std::vector<ParrotEntry> run = run_of(index);
  if (run.size() == kStashWalkMax) return ChangeOutcome::kBucketFull;
  const auto after = std::ranges::upper_bound(run, entry.key, {}, &ParrotEntry::key);
  run.insert(after, entry);
  return write_run(index, run) ? ChangeOutcome::kDone : ChangeOutcome::kNoRoom;
}

// A run that does not grow stays where it is.
template <class Words>
bool BasicParrotBuilder<Words>::write_run(uint64_t index, std::span<const ParrotEntry> run) {
  const StashWord before = bucket(index).stash();
  uint64_t first = before.first();
  if (run.size() > before.count()) {
    const auto taken = space_.take(run.size());
    if (!taken) return false;
    first = *taken;
    space_.give_back(before.first(), before.count());
  } else {
    space_.give_back(before.first() + run.size(), before.count() - run.size());
  }
  uint16_t filter = 0;
  for (size_t i = 0; i < run.size(); ++i) {
    write_entry(first + i, run[i]);
    filter |= static_cast<uint16_t>(1U << StashWord::filter_bit(run[i].key));
  }
  const uint64_t word = StashWord(run.empty() ? 0 : first, run.size(), filter).word();
  store_shared_bits<Words>(bucket_at(index), 0, 64, word);
  write_head();
  return true;
}

template <class Words>
void BasicParrotBuilder<Words>::write_slots(uint64_t index, uint8_t seed,
                                            std::span<const ParrotEntry> entries) {
  store_shared_bits<Words>(bucket_at(index), 8 * ParrotBucket<StillImage>::kSeedAt, 8, seed);
  for (size_t slot = 0; slot < kBucketSlots; ++slot) clear_slot(index, slot);
  for (const ParrotEntry& entry : entries) write_slot(index, slot_of(entry.key, seed), entry);
}

template <class Words>
void BasicParrotBuilder<Words>::write_slot(uint64_t index, size_t slot, const ParrotEntry& entry) {
  const uint64_t word = entry.value | reader().fingerprint_of(entry.key) << head_.shape.value_bits;
  store_slot(index, slot, word);
  const uint64_t place = index * kBucketSlots + slot;
  slot_keys_[place] = entry.key;
  if (head_.shape.has_keys == 0) return;
  store_shared_bits<Words>(image_.data() + head_.keys_offset + place * sizeof entry.key, 0, 64,
                           entry.key);
}

template <class Words>
void BasicParrotBuilder<Words>::clear_slot(uint64_t index, size_t slot) {
  store_slot(index, slot, head_.shape.absent());
}

// `word`: value and fingerprint.
template <class Words>
void BasicParrotBuilder<Words>::store_slot(uint64_t index, size_t slot, uint64_t word) {
  const unsigned bits = head_.shape.slot_bits();
  store_shared_bits<Words>(bucket_at(index) + ParrotBucket<StillImage>::kSlotsAt, slot * bits, bits,
                           word);
}

template <class Words>
void BasicParrotBuilder<Words>::write_entry(uint64_t index, const ParrotEntry& entry) {
  const ParrotShape& shape = head_.shape;
  std::byte* const at = image_.data() + head_.stash_offset + index * shape.entry_bytes();
  const auto key_bits = static_cast<unsigned>(8 * shape.key_bytes());
  const auto value_bits = static_cast<unsigned>(8 * shape.entry_bytes()) - key_bits;
  store_shared_bits<Words>(at, 0, key_bits, entry.key);
  store_shared_bits<Words>(at, key_bits, value_bits, entry.value);
}

template <class Words>
void BasicParrotBuilder<Words>::write_head() {
  head_.entry_count = space_.end();
  head_.image.image_bytes =
      head_.stash_offset + head_.entry_count * head_.shape.entry_bytes() + kImagePadding;
  std::memcpy(image_.data(), &head_, sizeof head_);
}

template <class Words>
std::vector<ParrotEntry> BasicParrotBuilder<Words>::entries() const {
  std::vector<ParrotEntry> all;
  all.reserve(size_);
  for (uint64_t index = 0; index < head_.bucket_count; ++index) {
    const auto first = static_cast<ptrdiff_t>(all.size());
    for (const ParrotEntry& entry : run_of(index)) all.push_back(entry);
    const auto stashed = std::ranges::subrange(all.begin() + first, all.end());
    std::vector<ParrotEntry> in_slots = slots_of(index);
    std::erase_if(in_slots, [&](const ParrotEntry& entry) {
      return std::ranges::find(stashed, entry.key, &ParrotEntry::key) != stashed.end();
    });
    all.insert(all.end(), in_slots.begin(), in_slots.end());
    std::ranges::sort(all.begin() + first, all.end(), {}, &ParrotEntry::key);
  }
  return all;
}

template <class Words>
auto BasicParrotBuilder<Words>::report() const -> Report {
  Report report{.keys = size_,
                .buckets = head_.bucket_count,
                .failed_buckets = failed_,
                .stashed = space_.taken(),
                .image = ParrotReader::open(image()).value().bytes(),
                .builder_bytes = slot_keys_.capacity() * sizeof slot_keys_[0]};
  for (uint64_t index = 0; index < head_.bucket_count; ++index)
    report.longest_walk = std::max<uint64_t>(report.longest_walk, bucket(index).stash().count());
  return report;
}

template <class Words>
std::optional<std::string> BasicParrotBuilder<Words>::audit() const {
  if (auto wrong = ParrotReader::open(image()).value().audit()) return wrong;
  if (auto wrong = audit_runs()) return wrong;
  const MonotoneModel model = reader().model();
  uint64_t keys = 0;
  for (uint64_t index = 0; index < head_.bucket_count; ++index) {
    const std::vector<ParrotEntry> in_slots = slots_of(index);
    for (const ParrotEntry& entry : in_slots) {
      const Place place = place_of(entry.key);
      if (model.bucket_of(entry.key) != index || !place.slot)
        return "bucket " + std::to_string(index) + " has a slot that its key does not lead to";
      if (!place.stash) ++keys;
    }
  }
  keys += space_.taken();
  if (keys != size_) {
    return "there are " + std::to_string(keys) + " keys in the image and " + std::to_string(size_) +
           " were put there";
  }
  return {};
}

// Runs and what is free lie beside each other.
template <class Words>
std::optional<std::string> BasicParrotBuilder<Words>::audit_runs() const {
  std::vector<std::pair<uint64_t, uint64_t>> runs;
  uint64_t taken = 0;
  for (uint64_t index = 0; index < head_.bucket_count; ++index) {
    const StashWord stash = bucket(index).stash();
    if (stash.count() == 0) continue;
    runs.emplace_back(stash.first(), stash.count());
    taken += stash.count();
  }
  std::ranges::sort(runs);
  for (size_t i = 1; i < runs.size(); ++i)
    if (runs[i - 1].first + runs[i - 1].second > runs[i].first)
      return "two buckets share entry " + std::to_string(runs[i].first) + " of the stash";
  if (taken != space_.taken() || taken + space_.free_count() != space_.end())
    return "entries of the stash are lost: " + std::to_string(taken) + " are in runs";
  return {};
}

}  // namespace roost::compact
