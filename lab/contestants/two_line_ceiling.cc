#include "lab/contestants/two_line_ceiling.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "roost/hash/hash64.h"

namespace roost::lab {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kSlotsPerBucket = 8;
constexpr uint64_t kEntryBytes = sizeof(Key) + sizeof(Value);
constexpr size_t kGroup = 32;

template <LineHint kHint>
void ask_for(const std::byte* line) {
  if constexpr (kHint == LineHint::kT0) __builtin_prefetch(line, 0, 3);
  if constexpr (kHint == LineHint::kT1) __builtin_prefetch(line, 0, 2);
  if constexpr (kHint == LineHint::kNta) __builtin_prefetch(line, 0, 0);
}

// A hit reads the entry's line, a miss stays on the bucket's: by arithmetic, so that no branch
// guesses.
uint64_t select(bool hits, uint64_t if_hit, uint64_t if_miss) {
  return if_miss + ((if_hit - if_miss) & (0 - uint64_t{hits}));
}

}  // namespace

Result<TwoLineCeiling> TwoLineCeiling::create(uint64_t slots, PageKind pages) {
  const uint64_t bucket_count = slots / kSlotsPerBucket;
  Result<Arena> memory = Arena::map(
      bucket_count * kLineBytes + bucket_count * kSlotsPerBucket * kEntryBytes, {.pages = pages});
  if (!memory) return memory.error();
  TwoLineCeiling ceiling(std::move(memory).value(), bucket_count);
  std::byte* lines = ceiling.memory_.data();
  for (uint64_t bucket = 0; bucket < bucket_count; ++bucket) {
    const uint64_t slot = mix(bucket) % kSlotsPerBucket;
    std::memcpy(lines + bucket * kLineBytes, &slot, sizeof(slot));
  }
  std::byte* entries = lines + ceiling.entries_offset();
  for (uint64_t entry = 0; entry < bucket_count * kSlotsPerBucket; ++entry) {
    const uint64_t word = mix(~entry);
    std::memcpy(entries + entry * kEntryBytes, &word, sizeof(word));
  }
  return ceiling;
}

uint64_t TwoLineCeiling::entries_offset() const { return bucket_count_ * kLineBytes; }

uint64_t TwoLineCeiling::bucket_offset(const Key& key) const {
  return multiply_wide(key.words[0], bucket_count_).high * kLineBytes;
}

// Reads the bucket's line; gives the line the lane ends on.
uint64_t TwoLineCeiling::last_offset(const Key& key, uint64_t bucket_offset) const {
  const uint64_t slot = bucket_offset / kLineBytes * kSlotsPerBucket + word_at(bucket_offset);
  return select(is_inserted_key(key), entries_offset() + slot * kEntryBytes, bucket_offset);
}

uint64_t TwoLineCeiling::word_at(uint64_t offset) const {
  uint64_t word = 0;
  std::memcpy(&word, memory_.data() + offset, sizeof(word));
  return word;
}

PassOutcome TwoLineCeiling::expected(std::span<const Key> stream) const {
  PassOutcome outcome;
  for (const Key& key : stream) {
    outcome.hit_count += uint64_t{is_inserted_key(key)};
    outcome.word_sum += word_at(last_offset(key, bucket_offset(key)));
  }
  return outcome;
}

// Three stages over groups of 32 lanes: ask for bucket lines, read them and ask for entry lines,
// read those. Leads say how many groups a stage is ahead of the last one.
template <LineHint kHint, LineLead kLead>
PassOutcome TwoLineCeiling::pass(const TwoLineCeiling& self, std::span<const Key> stream) {
  constexpr size_t kBucketLead = kLead == LineLead::kSameGroup     ? 0
                                 : kLead == LineLead::kNextBuckets ? 1
                                                                   : 2;
  constexpr size_t kEntryLead = kLead == LineLead::kBothAhead ? 1 : 0;
  constexpr size_t kGroupsHeld = 4;
  const size_t group_count = (stream.size() + kGroup - 1) / kGroup;
  std::array<std::array<uint64_t, kGroup>, kGroupsHeld> offsets{};
  const std::byte* const lines = self.memory_.data();
  PassOutcome outcome;

  const auto keys_of = [stream](size_t group) {
    return stream.subspan(group * kGroup, std::min(kGroup, stream.size() - group * kGroup));
  };
  const auto ask_for_buckets = [&](size_t group) {
    const std::span<const Key> keys = keys_of(group);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      offsets[group % kGroupsHeld][lane] = self.bucket_offset(keys[lane]);
      ask_for<kHint>(lines + offsets[group % kGroupsHeld][lane]);
    }
  };
  const auto ask_for_entries = [&](size_t group) {
    const std::span<const Key> keys = keys_of(group);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      uint64_t& offset = offsets[group % kGroupsHeld][lane];
      offset = self.last_offset(keys[lane], offset);
      ask_for<kHint>(lines + offset);
      outcome.hit_count += uint64_t{is_inserted_key(keys[lane])};
    }
  };
  const auto read_last = [&](size_t group) {
    for (size_t lane = 0; lane < keys_of(group).size(); ++lane) {
      outcome.word_sum += self.word_at(offsets[group % kGroupsHeld][lane]);
    }
  };

  for (size_t group = 0; group < std::min(kBucketLead, group_count); ++group)
    ask_for_buckets(group);
  for (size_t group = 0; group < std::min(kEntryLead, group_count); ++group) ask_for_entries(group);
  for (size_t group = 0; group < group_count; ++group) {
    if (group + kBucketLead < group_count) ask_for_buckets(group + kBucketLead);
    if (group + kEntryLead < group_count) ask_for_entries(group + kEntryLead);
    read_last(group);
  }
  return outcome;
}

std::span<const TwoLineCeiling::Variant> TwoLineCeiling::variants() {
  using enum LineHint;
  using enum LineLead;
  static constexpr std::array kVariants = {
      Variant{"T0", pass<kT0, kSameGroup>},     Variant{"T0+1", pass<kT0, kNextBuckets>},
      Variant{"T0+2", pass<kT0, kBothAhead>},   Variant{"T1", pass<kT1, kSameGroup>},
      Variant{"T1+1", pass<kT1, kNextBuckets>}, Variant{"T1+2", pass<kT1, kBothAhead>},
      Variant{"NTA", pass<kNta, kSameGroup>},   Variant{"NTA+1", pass<kNta, kNextBuckets>},
      Variant{"NTA+2", pass<kNta, kBothAhead>},
  };
  return kVariants;
}

}  // namespace roost::lab
