// What a query does next.
#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/accelerator.h"

namespace roost::sim {

void Accelerator::metadata_found(Place& place) {
  const MetadataCache::Answer answer = metadata_.find(place.query.table);
  place.metadata_place = answer.place;
  place.waits_for_metadata = answer.finding == MetadataCache::Finding::kBeingRead;
  switch (answer.finding) {
    case MetadataCache::Finding::kHit:
      with_metadata(place);
      return;
    case MetadataCache::Finding::kToRead:
      place.has_metadata = true;
      place.given_up = answer.given_up.value_or(0);
      place.step = answer.given_up ? Step::kDropMetadata : Step::kReadMetadata;
      return;
    default:  // asks again, when the line has come or a query has ended
      return;
  }
}

void Accelerator::with_metadata(Place& place) {
  place.has_metadata = true;
  const TableMetadata* table = metadata_.metadata(place.metadata_place);
  if (table == nullptr) {
    end(place, kRefusedWord);
    return;
  }
  if (place.query.has_key) {
    place.key = place.query.key;
    std::fill(place.key.begin() + table->key_bytes, place.key.end(), std::byte{0});
    place.step = table->mask ? Step::kMask : Step::kHash;
    if (place.query.has_hash && !table->mask) {
      place.hash = place.query.hash;
      with_hash(place);
    }
    return;
  }
  place.read_address = place.query.key_address;
  place.read_bytes = table->key_bytes;
  place.parts_asked = 0;
  place.parts_here = 0;
  place.step = Step::kKeyRead;
}

void Accelerator::with_key(Place& place) {
  const TableMetadata& table = table_of(place);
  const uint64_t offset = place.read_address % kLineBytes;
  place.key.fill(std::byte{0});
  const auto* bytes = reinterpret_cast<const std::byte*>(place.read_lines.data());
  std::memcpy(place.key.data(), bytes + offset, table.key_bytes);
  place.step = table.mask ? Step::kMask : Step::kHash;
  if (place.query.has_hash && !table.mask) {
    place.hash = place.query.hash;
    with_hash(place);
  }
}

void Accelerator::with_hash(Place& place) {
  flow_bits_[place.hash & (flow_bits_.size() - 1)] = true;
  place.places = places_of(table_of(place), Hash64{place.hash});
  read_bucket(place, place.places.primary);
  if (has_locks_ && place.step == Step::kBucketRead) place.step = Step::kLockPrimary;
}

void Accelerator::read_bucket(Place& place, uint64_t bucket) {
  place.bucket = bucket;
  ++place.buckets_seen;
  (void)begin_read(place, bucket_address(table_of(place), bucket), kLineBytes, Step::kBucketRead);
}

bool Accelerator::begin_read(Place& place, uint64_t address, uint64_t bytes, Step step) {
  if (!table_of(place).holds(address, bytes)) {
    end(place, kRefusedWord);
    return false;
  }
  place.read_address = address;
  place.read_bytes = bytes;
  place.parts_asked = 0;
  place.parts_here = 0;
  place.step = step;
  return true;
}

void Accelerator::bucket_compared(Place& place) {
  const TableMetadata& table = table_of(place);
  const uint32_t found = candidates(table, place.bucket_line, place.places.tag, place.key);
  if (table.format == TableFormat::kInline && found != 0) {
    const auto slot = static_cast<unsigned>(std::countr_zero(found));
    end(place, inline_word(table, bucket_address(table, place.bucket), slot, place.bucket_line));
    return;
  }
  place.candidates = found;
  if (place.buckets_seen == 1) {
    place.may_be_stashed = has_stashed(table, place.bucket_line) &&
                           may_be_displaced(table, place.bucket_line, place.places.tag);
  }
  next_candidate(place);
}

void Accelerator::next_candidate(Place& place) {
  if (place.candidates == 0) {
    next_bucket(place);
    return;
  }
  const TableMetadata& table = table_of(place);
  place.slot = static_cast<unsigned>(std::countr_zero(place.candidates));
  place.candidates &= place.candidates - 1;
  const uint64_t address = entry_address(table, place.bucket, place.slot, place.bucket_line);
  (void)begin_read(place, address, entry_read_bytes(table),
                   has_locks_ ? Step::kLockEntry : Step::kEntryRead);
}

// The key is not in the bucket: where it may be otherwise.
void Accelerator::next_bucket(Place& place) {
  const TableMetadata& table = table_of(place);
  if (place.buckets_seen == 1 && place.places.secondary != place.places.primary) {
    if (uses_filter_ && !may_be_displaced(table, place.bucket_line, place.places.tag)) {
      end(place, kNotFoundWord);
      return;
    }
    ++counts_.second_buckets;
    read_bucket(place, place.places.secondary);
    if (has_locks_ && uses_filter_ && place.step == Step::kBucketRead)
      place.step = Step::kLockSecondary;
    return;
  }
  const uint64_t stashed = place.buckets_seen - 2;
  if (place.buckets_seen >= 2 && place.may_be_stashed && stashed < table.stash_buckets) {
    read_bucket(place, table.buckets + stashed);
    return;
  }
  end(place, kNotFoundWord);
}

void Accelerator::entry_compared(Place& place) {
  const TableMetadata& table = table_of(place);
  const auto* bytes = reinterpret_cast<const std::byte*>(place.read_lines.data());
  const std::span<const std::byte> entry(bytes + place.read_address % kLineBytes, place.read_bytes);
  if (std::memcmp(entry.data(), place.key.data(), table.key_bytes) == 0) {
    end(place, entry_word(table, place.read_address, entry));
    return;
  }
  ++counts_.mismatches;
  place.step = place.entry_locks > 0 ? Step::kUnlockEntry : Step::kCandidate;
}

void Accelerator::end(Place& place, uint64_t word) {
  counts_.refused += word == kRefusedWord ? 1 : 0;
  place.word = word;
  place.step = Step::kCommit;
}

void Accelerator::free_places() {
  for (const uint32_t index : ended_) {
    Place& place = places_[index];
    if (place.has_metadata) metadata_.unpin(place.metadata_place);
    place.step = Step::kFree;
    std::erase(order_, index);
  }
  ended_.clear();
}

bool Accelerator::is_idle() const {
  if (outputs_.memory || outputs_.lock || outputs_.result || !results_.empty()) return false;
  if (!commands_.empty() && !outputs_.busy) return false;
  if (hash_busy_ > 0 || key_busy_ > 0) return false;
  return std::ranges::all_of(order_, [this](uint32_t index) {
    return places_[index].cycles_left == 0 && !unit_wanted(places_[index]);
  });
}

std::string Accelerator::state_in_words() const {
  std::string words = std::to_string(order_.size()) + " queries in flight, " +
                      std::to_string(commands_.size()) + " in the command queue";
  for (const uint32_t index : order_) {
    const Place& place = places_[index];
    const char* waits = place.step == Step::kMetadataWait ? "metadata"
                        : place.step == Step::kKeyWait    ? "its key"
                        : place.step == Step::kBucketWait ? "a bucket"
                        : place.step == Step::kEntryWait  ? "an entry"
                                                          : nullptr;
    if (waits != nullptr)
      words += "; query " + std::to_string(place.query.token) + " waits for " + waits;
  }
  return words;
}

}  // namespace roost::sim
