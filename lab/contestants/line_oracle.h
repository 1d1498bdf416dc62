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
// the same line. Absent keys have positions of their own, which are never filled: there a miss
// ends.
//
//   two lines:  | line 0 | ... | line n-1 | entry 0 | ... | entry 8n-1 |    32 bytes an entry
//   one line:   | line 0 | ... | line n-1 |                              2, 3 or 8 values a line
//
// Lookups overlap as our table's do (oracle_lookup.h).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lab/contestants/oracle_lookup.h"
#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/isa/prefetch.h"
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

// For values in the bucket's own line: that of an inline table with 13-byte keys, or of a packed
// one.
template <class V, uint64_t kSlotCount, class K = traffic::Key104>
struct OneLine {
  using KeyType = K;
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
struct Packed : OneLine<traffic::Value16, 8, traffic::Key48> {
  static constexpr std::array<std::string_view, 3> kNames = {"oracle_packed_t0", "oracle_packed_t1",
                                                             "oracle_packed_nta"};
};

template <class Shape, PrefetchHint kHint>
class LineOracle {
  static constexpr uint64_t kLineBytes = 64;
  static constexpr bool kHasEntries = Shape::kEntryBytes != 0;
  static constexpr std::byte kFull{0x80};  // flag of a position, with its slot in the low bits

 public:
  using KeyType = typename Shape::KeyType;
  using ValueType = typename Shape::ValueType;
  using Answer = ValueType;
  static constexpr std::string_view kName = Shape::kNames[static_cast<size_t>(kHint)];
  static constexpr double kLinesOnHit = kHasEntries ? 2 : 1;
  static constexpr double kLinesOnMiss = 1;

  struct Place {
    uint64_t line;
    uint64_t position;  // of its flag; absent keys have those behind the others
  };

  static Result<LineOracle> create(uint64_t slots, PageKind pages) {
    if (!std::has_single_bit(slots) || slots < 64)
      return Error{"an oracle's capacity is a power of two from 64 up, not " +
                   std::to_string(slots)};
    Result<Arena> memory = Arena::map(bytes_of(slots), {.pages = pages});
    if (!memory) return memory.error();
    return LineOracle(std::make_shared<Arena>(std::move(memory).value()), slots);
  }
  // For another thread, in the same memory.
  [[nodiscard]] LineOracle reader() const { return *this; }

  // Always finds room, as long as indices lie within a run of `slots`.
  bool insert(const KeyType& key, const ValueType& value) {
    const Place place = place_of(key);
    const uint64_t slot = (place.position + 1) % Shape::kSlots;
    flag(place) = kFull | std::byte{static_cast<uint8_t>(slot)};
    std::memcpy(lines_ + value_offset(place.line, slot), &value, sizeof(value));
    return true;
  }
  bool erase(const KeyType& key) { return std::exchange(flag(place_of(key)), {}) != std::byte{}; }
  void clear() { std::memset(lines_, 0, line_count_ * kLineBytes); }

  void lookup(std::span<const KeyType> keys, std::span<ValueType> answers, HitWords hits) const {
    OracleLookup<LineOracle, kHint>(*this).run(keys, nullptr, {}, answers, hits);
  }

  using Ahead = OracleAhead<LineOracle, kHint>;

  // The index's bits turned round by three: neighbours are eight slots apart.
  [[gnu::always_inline]] Place place_of(const KeyType& key) const {
    const uint64_t index = index_of(key) & slots_mask_;
    const uint64_t slot = ((index << 3) & slots_mask_) | (index >> shift_);
    const uint64_t absent = is_inserted_key(key) ? 0 : Shape::kSlots;
    return {slot / Shape::kSlots, slot % Shape::kSlots + absent};
  }
  [[gnu::always_inline]] const std::byte* first_line(Place place) const {
    return lines_ + place.line * kLineBytes;
  }
  [[gnu::always_inline]] OracleEnd end_of(Place place) const {
    const auto flag = static_cast<uint32_t>(lines_[flag_offset(place)]);
    return {lines_ + value_offset(place.line, flag & 7), flag >> 7};
  }

  static bool is_answer(const ValueType& answer, const ValueType& value) { return answer == value; }
  static uint64_t answer_word(const ValueType& answer) { return word_of(answer); }
  [[nodiscard]] const void* entry_address(const KeyType& key) const {
    return lines_ + value_offset(place_of(key).line, 0);
  }
  [[nodiscard]] uint64_t memory_bytes() const { return memory_->bytes(); }
  [[nodiscard]] FewestLines fewest_lines() const {
    return {.first_bytes = line_count_ * kLineBytes,
            .second_bytes = line_count_ * Shape::kSlots * Shape::kEntryBytes};
  }

 private:
  static uint64_t lines_for(uint64_t slots) { return (slots + Shape::kSlots - 1) / Shape::kSlots; }
  static uint64_t bytes_of(uint64_t slots) {
    return lines_for(slots) * (kLineBytes + Shape::kSlots * Shape::kEntryBytes);
  }

  LineOracle(std::shared_ptr<Arena> memory, uint64_t slots)
      : memory_(std::move(memory)),
        lines_(memory_->data()),
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

  // What mix47() was given.
  static constexpr uint64_t unmix47(uint64_t word) {
    word = (word ^ (word >> 25)) * 0x2764B535AD69U & traffic::kMask47;
    word = (word ^ (word >> 24)) * 0x42B2D24D8EC3U & traffic::kMask47;
    return (word ^ (word >> 23) ^ (word >> 46)) * 0x1B173F119089U & traffic::kMask47;
  }
  static_assert(unmix47(traffic::mix47(0x123456789ABCU)) == 0x123456789ABCU);

  [[gnu::always_inline]] static uint64_t index_of(const KeyType& key) {
    uint64_t word = 0;
    std::memcpy(&word, &key, sizeof(word));
    return std::is_same_v<KeyType, traffic::Key48> ? unmix47(word >> 1) : unmix(word);
  }

  [[nodiscard]] uint64_t flag_offset(Place place) const {
    return place.line * kLineBytes + Shape::kFlagsOffset + place.position;
  }
  std::byte& flag(Place place) { return lines_[flag_offset(place)]; }
  [[nodiscard]] uint64_t value_offset(uint64_t line, uint64_t slot) const {
    if constexpr (!kHasEntries) return line * kLineBytes + slot * sizeof(ValueType);
    return line_count_ * kLineBytes + (line * Shape::kSlots + slot) * Shape::kEntryBytes +
           sizeof(KeyType);
  }

  std::shared_ptr<Arena> memory_;
  std::byte* lines_;
  uint64_t line_count_;
  uint64_t slots_mask_;
  unsigned shift_;
};

}  // namespace roost::lab
