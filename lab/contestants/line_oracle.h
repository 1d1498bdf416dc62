// The oracle: a contestant that knows where every key is and goes straight to the right lines.
//
// It stands in the driver as any table does: keys are streamed in, values written out, hit bits
// written, answers checked. What it leaves out is all that a table does to find a key: it compares
// neither keys nor tags, and no bucket is ever full. So it is what a table with these lines could
// reach in this driver if finding cost nothing; the ceiling (line_ceiling.h) has no driver either.
//
// A key's place follows from the key: its first word is a bijective mix of an index
// (roost/traffic), and unmixing takes about what hashing takes. Any run of indices no longer than
// the capacity gets places of its own, evenly spread at every load; absent keys are spread alike.
//
// With two lines, a bucket's line says at the key's position in which of the eight slots its value
// is, so that the second line is known only when the first is there; with one line, the value is in
// the same line. Absent keys have positions of their own, which nobody fills: there a miss ends.
//
//   two lines:  | line 0 | ... | line n-1 | entry 0 | ... | entry 8n-1 |    32 bytes an entry
//   one line:   | line 0 | ... | line n-1 |                                 2 or 3 values a line
//
// Lookups overlap as our table's do: groups of 32 a stage apart inside a call, and across calls
// where the caller names the next keys.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lab/contestants/line_hint.h"
#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// What stands where, for a value in a line of its own: that of a split table with 16-byte keys.
struct TwoLines {
  using KeyType = Key;
  using ValueType = Value;
  static constexpr std::array<std::string_view, 3> kNames = {
      "oracle_two_line_t0", "oracle_two_line_t1", "oracle_two_line_nta"};
  static constexpr uint64_t kSlots = 8;
  static constexpr uint64_t kEntryBytes = sizeof(Key) + sizeof(Value);
  static constexpr uint64_t kFlagsOffset = 0;
};

// For values in the bucket's own line: that of an inline table with 13-byte keys.
template <class V, uint64_t kSlotCount>
struct OneLine {
  using KeyType = traffic::Key104;
  using ValueType = V;
  static constexpr uint64_t kSlots = kSlotCount;
  static constexpr uint64_t kEntryBytes = 0;
  static constexpr uint64_t kFlagsOffset = 64 - 2 * kSlots;
  static_assert(kSlots * sizeof(V) <= kFlagsOffset);
};
struct InlineTwo : OneLine<Value, 2> {
  static constexpr std::array<std::string_view, 3> kNames = {
      "oracle_inline_2_t0", "oracle_inline_2_t1", "oracle_inline_2_nta"};
};
struct InlineThree : OneLine<traffic::Value32, 3> {
  static constexpr std::array<std::string_view, 3> kNames = {
      "oracle_inline_3_t0", "oracle_inline_3_t1", "oracle_inline_3_nta"};
};

template <class Shape, LineHint kHint>
class LineOracle {
  static constexpr uint64_t kLineBytes = 64;
  static constexpr size_t kGroup = 32;
  static constexpr bool kHasEntries = Shape::kEntryBytes != 0;
  static constexpr std::byte kFull{0x80};  // flag of a position, with its slot in the low bits

 public:
  using KeyType = typename Shape::KeyType;
  using ValueType = typename Shape::ValueType;
  using Answer = ValueType;
  static constexpr std::string_view kName = Shape::kNames[static_cast<size_t>(kHint)];
  static constexpr double kLinesOnHit = kHasEntries ? 2 : 1;
  static constexpr double kLinesOnMiss = 1;

  static Result<LineOracle> create(uint64_t slots, PageKind pages) {
    if (!std::has_single_bit(slots) || slots < 64)
      return Error{"an oracle's capacity is a power of two from 64 up, not " +
                   std::to_string(slots)};
    Result<Arena> memory = Arena::map(bytes_of(slots), {.pages = pages});
    if (!memory) return memory.error();
    return LineOracle(std::move(memory).value(), slots);
  }

  // Always finds room, as long as indices lie within a run of `slots`.
  bool insert(const KeyType& key, const ValueType& value) {
    const Place place = place_of(key);
    const uint64_t slot = (place.position + 1) % Shape::kSlots;
    flag(place) = kFull | std::byte{static_cast<uint8_t>(slot)};
    std::memcpy(memory_.data() + value_offset(place.line, slot), &value, sizeof(value));
    return true;
  }
  bool erase(const KeyType& key) { return std::exchange(flag(place_of(key)), {}) != std::byte{}; }
  void clear() { std::memset(memory_.data(), 0, line_count_ * kLineBytes); }

  void lookup(std::span<const KeyType> keys, std::span<ValueType> answers, HitWords hits) const {
    run(keys, {}, {}, answers, hits);
  }

  class Ahead;

  static bool is_answer(const ValueType& answer, const ValueType& value) { return answer == value; }
  static uint64_t answer_word(const ValueType& answer) { return word_of(answer); }
  [[nodiscard]] const void* entry_address(const KeyType& key) const {
    return memory_.data() + value_offset(place_of(key).line, 0);
  }
  [[nodiscard]] uint64_t memory_bytes() const { return memory_.bytes(); }
  [[nodiscard]] FewestLines fewest_lines() const {
    return {.first_bytes = line_count_ * kLineBytes,
            .second_bytes = line_count_ * Shape::kSlots * Shape::kEntryBytes};
  }

 private:
  struct Place {
    uint64_t line;
    uint64_t position;  // of its flag; absent keys have those behind the others
  };
  // What a group carries from stage to stage.
  struct Group {
    std::array<Place, kGroup> places;
    std::array<uint64_t, kGroup> values;  // offsets
    uint32_t hits;
  };
  using Keys = std::span<const KeyType>;

  static uint64_t lines_for(uint64_t slots) { return (slots + Shape::kSlots - 1) / Shape::kSlots; }
  static uint64_t bytes_of(uint64_t slots) {
    return lines_for(slots) * (kLineBytes + Shape::kSlots * Shape::kEntryBytes);
  }

  LineOracle(Arena memory, uint64_t slots)
      : memory_(std::move(memory)),
        line_count_(lines_for(slots)),
        slots_mask_(slots - 1),
        shift_(static_cast<unsigned>(std::countr_zero(slots)) - 3) {}

  // What mix() was given.
  static constexpr uint64_t unmix(uint64_t word) {
    word = (word ^ (word >> 31) ^ (word >> 62)) * 0x319642B2D24D8EC3U;
    word = (word ^ (word >> 27) ^ (word >> 54)) * 0x96DE1B173F119089U;
    return word ^ (word >> 30) ^ (word >> 60);
  }
  static_assert(unmix(mix(0x0123456789ABCDEFU)) == 0x0123456789ABCDEFU);

  // The index's bits turned round by three: neighbours are eight slots apart.
  [[gnu::always_inline]] Place place_of(const KeyType& key) const {
    uint64_t word = 0;
    std::memcpy(&word, &key, sizeof(word));
    const uint64_t index = unmix(word) & slots_mask_;
    const uint64_t slot = ((index << 3) & slots_mask_) | (index >> shift_);
    const uint64_t absent = is_inserted_key(key) ? 0 : Shape::kSlots;
    return {slot / Shape::kSlots, slot % Shape::kSlots + absent};
  }
  [[nodiscard]] uint64_t flag_offset(Place place) const {
    return place.line * kLineBytes + Shape::kFlagsOffset + place.position;
  }
  std::byte& flag(Place place) { return memory_.data()[flag_offset(place)]; }
  [[nodiscard]] uint64_t value_offset(uint64_t line, uint64_t slot) const {
    if constexpr (!kHasEntries) return line * kLineBytes + slot * sizeof(ValueType);
    return line_count_ * kLineBytes + (line * Shape::kSlots + slot) * Shape::kEntryBytes +
           sizeof(KeyType);
  }

  static Keys group_of(Keys keys, size_t group) {
    return keys.subspan(group * kGroup, std::min(kGroup, keys.size() - group * kGroup));
  }

  // Asks for the lines where the lanes begin.
  [[gnu::always_inline]] void start(Keys keys, Group& group) const {
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      group.places[lane] = place_of(keys[lane]);
      ask_for<kHint>(memory_.data() + group.places[lane].line * kLineBytes);
    }
  }

  // Reads them; asks for the line of the value, if it is another one.
  [[gnu::always_inline]] void match(size_t lane_count, Group& group) const {
    uint32_t hits = 0;
    for (size_t lane = 0; lane < lane_count; ++lane) {
      const Place place = group.places[lane];
      const auto flag = static_cast<uint32_t>(memory_.data()[flag_offset(place)]);
      const uint32_t is_hit = flag >> 7;
      group.values[lane] = value_offset(place.line, flag & 7);
      if constexpr (kHasEntries) {
        const uint64_t line = place.line * kLineBytes;
        ask_for<kHint>(memory_.data() + line +
                       ((group.values[lane] - line) & (0 - uint64_t{is_hit})));
      }
      hits |= is_hit << lane;
    }
    group.hits = hits;
  }

  [[gnu::always_inline]] void finish(size_t first, const Group& group, std::span<ValueType> answers,
                                     HitWords hits) const {
    for (uint32_t lanes = group.hits; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(lanes));
      std::memcpy(&answers[first + lane], memory_.data() + group.values[lane], sizeof(ValueType));
    }
    hits.write_group(first, group.hits);
  }

  // Groups a stage apart. `started` is the first group if it has been started; `next` is started
  // when all of `keys` are.
  [[gnu::noinline]] void run(Keys keys, Group* started, std::pair<Keys, Group*> next,
                             std::span<ValueType> answers, HitWords hits) const {
    constexpr size_t kLast = kHasEntries ? 2 : 1;
    const size_t group_count = (keys.size() + kGroup - 1) / kGroup;
    std::array<Group, kLast + 1> groups;
    if (started != nullptr) groups[0].places = started->places;
    for (size_t turn = 0; turn < group_count + kLast; ++turn) {
      if (kHasEntries && turn >= 1 && turn - 1 < group_count)
        match(group_of(keys, turn - 1).size(), groups[(turn - 1) % groups.size()]);
      if (turn < group_count && (turn != 0 || started == nullptr))
        start(group_of(keys, turn), groups[turn % groups.size()]);
      if (turn == group_count && !next.first.empty()) start(group_of(next.first, 0), *next.second);
      if (turn < kLast) continue;
      Group& last = groups[(turn - kLast) % groups.size()];
      if constexpr (!kHasEntries) match(group_of(keys, turn - kLast).size(), last);
      finish((turn - kLast) * kGroup, last, answers, hits);
    }
  }

  Arena memory_;
  uint64_t line_count_;
  uint64_t slots_mask_;
  unsigned shift_;
};

// The oracle told the next call's keys: their first lines are on their way when it is their turn.
template <class Shape, LineHint kHint>
class LineOracle<Shape, kHint>::Ahead {
 public:
  using KeyType = LineOracle::KeyType;
  using ValueType = LineOracle::ValueType;
  using Answer = ValueType;
  static constexpr std::string_view kName = LineOracle::kName;

  explicit Ahead(const LineOracle& oracle) : oracle_(&oracle) {}

  void lookup(std::span<const KeyType> keys, std::span<const KeyType> next_keys,
              std::span<ValueType> answers, HitWords hits) {
    Group next;
    oracle_->run(keys, is_started_ ? &started_ : nullptr, {next_keys, &next}, answers, hits);
    is_started_ = !next_keys.empty();
    if (is_started_) started_.places = next.places;
  }
  static bool is_answer(const ValueType& answer, const ValueType& value) { return answer == value; }
  static uint64_t answer_word(const ValueType& answer) { return word_of(answer); }

 private:
  const LineOracle* oracle_;
  Group started_;
  bool is_started_ = false;
};

}  // namespace roost::lab
