#include "lab/contestants/line_ceiling.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "roost/base/assert.h"
#include "roost/hash/hash64.h"

namespace roost::lab {
namespace {

constexpr size_t kGroup = 32;
constexpr size_t kGroupsHeld = 4;

// A hit reads the second line, a miss stays on the first: by arithmetic, so that no branch guesses.
uint64_t select(bool hits, uint64_t if_hit, uint64_t if_miss) {
  return if_miss + ((if_hit - if_miss) & (0 - uint64_t{hits}));
}

std::span<const Key> group_of(std::span<const Key> stream, size_t group) {
  return stream.subspan(group * kGroup, std::min(kGroup, stream.size() - group * kGroup));
}

size_t group_count(std::span<const Key> stream) { return (stream.size() + kGroup - 1) / kGroup; }

}  // namespace

Result<LineCeiling::Memory> LineCeiling::make_memory(uint64_t bytes, PageKind pages) {
  Result<Arena> arena = Arena::map(bytes, {.pages = pages});
  if (!arena) return arena.error();
  for (uint64_t offset = 0; offset + kLineBytes <= bytes; offset += kLineBytes) {
    const uint64_t word = mix(offset + 1);
    std::memcpy(arena.value().data() + offset, &word, sizeof(word));
  }
  return Memory(std::make_shared<const Arena>(std::move(arena).value()));
}

LineCeiling::LineCeiling(Memory memory, FewestLines shape)
    : memory_(std::move(memory)),
      first_lines_(shape.first_bytes / kLineBytes),
      second_lines_(shape.second_bytes / kLineBytes) {
  ROOST_ASSERT(first_lines_ > 0 && bytes_of(shape) <= memory_->bytes());
}

uint64_t LineCeiling::first_offset(const Key& key) const {
  return multiply_wide(key.words[0], first_lines_).high * kLineBytes;
}

// Reads the first line; gives the line the lane ends on.
uint64_t LineCeiling::last_offset(const Key& key, uint64_t first_offset) const {
  const uint64_t second = multiply_wide(word_at(first_offset), second_lines_).high;
  return select(is_inserted_key(key), (first_lines_ + second) * kLineBytes, first_offset);
}

uint64_t LineCeiling::word_at(uint64_t offset) const {
  uint64_t word = 0;
  std::memcpy(&word, memory_->data() + offset, sizeof(word));
  return word;
}

PassOutcome LineCeiling::expected(std::span<const Key> stream) const {
  PassOutcome outcome;
  for (const Key& key : stream) {
    const uint64_t first = first_offset(key);
    outcome.hit_count += uint64_t{is_inserted_key(key)};
    outcome.word_sum += word_at(second_lines_ == 0 ? first : last_offset(key, first));
  }
  return outcome;
}

// Two stages over groups of 32 lanes: ask for the lines, read them.
template <PrefetchHint kHint, LineLead kLead>
PassOutcome LineCeiling::pass_one(const LineCeiling& self, std::span<const Key> stream) {
  constexpr auto kAhead = static_cast<size_t>(kLead);
  const size_t groups = group_count(stream);
  const std::byte* const lines = self.memory_->data();
  PassOutcome outcome;
  const auto ask_for_lines = [&](size_t group) {
    for (const Key& key : group_of(stream, group)) prefetch(kHint, lines + self.first_offset(key));
  };
  for (size_t group = 0; group < std::min(kAhead, groups); ++group) ask_for_lines(group);
  for (size_t group = 0; group < groups; ++group) {
    if (group + kAhead < groups) ask_for_lines(group + kAhead);
    for (const Key& key : group_of(stream, group)) {
      outcome.hit_count += uint64_t{is_inserted_key(key)};
      outcome.word_sum += self.word_at(self.first_offset(key));
    }
  }
  return outcome;
}

// Three stages over groups of 32 lanes: ask for first lines, read them and ask for second lines,
// read those.
template <PrefetchHint kHint, LineLead kLead>
PassOutcome LineCeiling::pass_two(const LineCeiling& self, std::span<const Key> stream) {
  constexpr auto kFirstAhead = static_cast<size_t>(kLead);
  constexpr size_t kSecondAhead = kLead == LineLead::kBothAhead ? 1 : 0;
  const size_t groups = group_count(stream);
  std::array<std::array<uint64_t, kGroup>, kGroupsHeld> offsets{};
  const std::byte* const lines = self.memory_->data();
  PassOutcome outcome;

  const auto ask_for_first = [&](size_t group) {
    const std::span<const Key> keys = group_of(stream, group);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      offsets[group % kGroupsHeld][lane] = self.first_offset(keys[lane]);
      prefetch(kHint, lines + offsets[group % kGroupsHeld][lane]);
    }
  };
  const auto ask_for_second = [&](size_t group) {
    const std::span<const Key> keys = group_of(stream, group);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      uint64_t& offset = offsets[group % kGroupsHeld][lane];
      offset = self.last_offset(keys[lane], offset);
      prefetch(kHint, lines + offset);
      outcome.hit_count += uint64_t{is_inserted_key(keys[lane])};
    }
  };
  const auto read_last = [&](size_t group) {
    for (size_t lane = 0; lane < group_of(stream, group).size(); ++lane)
      outcome.word_sum += self.word_at(offsets[group % kGroupsHeld][lane]);
  };

  for (size_t group = 0; group < std::min(kFirstAhead, groups); ++group) ask_for_first(group);
  for (size_t group = 0; group < std::min(kSecondAhead, groups); ++group) ask_for_second(group);
  for (size_t group = 0; group < groups; ++group) {
    if (group + kFirstAhead < groups) ask_for_first(group + kFirstAhead);
    if (group + kSecondAhead < groups) ask_for_second(group + kSecondAhead);
    read_last(group);
  }
  return outcome;
}

std::span<const LineCeiling::Variant> LineCeiling::variants() const {
  using enum PrefetchHint;
  using enum LineLead;
  static constexpr std::array kOne = {
      Variant{"T0", pass_one<kT0, kSameGroup>},     Variant{"T0+1", pass_one<kT0, kFirstAhead>},
      Variant{"T0+2", pass_one<kT0, kBothAhead>},   Variant{"T1", pass_one<kT1, kSameGroup>},
      Variant{"T1+1", pass_one<kT1, kFirstAhead>},  Variant{"T1+2", pass_one<kT1, kBothAhead>},
      Variant{"NTA", pass_one<kNta, kSameGroup>},   Variant{"NTA+1", pass_one<kNta, kFirstAhead>},
      Variant{"NTA+2", pass_one<kNta, kBothAhead>},
  };
  static constexpr std::array kTwo = {
      Variant{"T0", pass_two<kT0, kSameGroup>},     Variant{"T0+1", pass_two<kT0, kFirstAhead>},
      Variant{"T0+2", pass_two<kT0, kBothAhead>},   Variant{"T1", pass_two<kT1, kSameGroup>},
      Variant{"T1+1", pass_two<kT1, kFirstAhead>},  Variant{"T1+2", pass_two<kT1, kBothAhead>},
      Variant{"NTA", pass_two<kNta, kSameGroup>},   Variant{"NTA+1", pass_two<kNta, kFirstAhead>},
      Variant{"NTA+2", pass_two<kNta, kBothAhead>},
  };
  return second_lines_ == 0 ? std::span<const Variant>(kOne) : std::span<const Variant>(kTwo);
}

}  // namespace roost::lab
