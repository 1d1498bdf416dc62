// Keys and values of synthetic work.
//
// A value is a function of its key, so every answer can be checked without storing what was
// inserted. Bit 64 of a key says whether it belongs to the absent ones, so a query that must miss
// is never in a table.
//
// A key of 104 bits (an IPv4 flow) has two forms: its 13 bytes, and the same with zeroes behind
// them in a Key128, for tables that know no other size. Both go with the same value.
//
// A key of 48 bits (a MAC address) is in the lowest bits of a word, the last of which says whether
// it is absent, as bit 64 of its Key128 does, where its bits are the highest of the first word. The
// low byte of its value is a generation: of a key whose value changes, the values differ there and
// only there.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "roost/traffic/draw.h"

namespace roost::traffic {

struct Key128 {
  std::array<uint64_t, 2> words;

  friend bool operator==(const Key128&, const Key128&) = default;
};
static_assert(sizeof(Key128) == 16, "16 bytes, none of them padding");

struct Key104 {
  std::array<uint8_t, 13> bytes;

  friend bool operator==(const Key104&, const Key104&) = default;
};
static_assert(sizeof(Key104) == 13, "13 bytes, none of them padding");

struct Key48 {
  static constexpr unsigned kSignificantBits = 48;
  uint64_t word;

  friend bool operator==(const Key48&, const Key48&) = default;
};
static_assert(sizeof(Key48) == 8, "a word");

struct Value128 {
  std::array<uint64_t, 2> words;

  friend bool operator==(const Value128&, const Value128&) = default;
};
static_assert(sizeof(Value128) == 16, "16 bytes, none of them padding");

struct Value32 {
  uint32_t word;

  friend bool operator==(const Value32&, const Value32&) = default;
};
static_assert(sizeof(Value32) == 4, "4 bytes");

struct Value16 {
  uint16_t word;

  friend bool operator==(const Value16&, const Value16&) = default;
};
static_assert(sizeof(Value16) == 2, "2 bytes");

// The value of a later generation; after 256 of them it is the first one again.
[[nodiscard]] constexpr Value16 of_generation(Value16 value, uint8_t generation) {
  return {static_cast<uint16_t>((value.word & 0xFF00U) |
                                ((value.word + uint32_t{generation}) & 0xFFU))};
}

// A key in another form: `Key128` with zeroes behind 104 bits, or its 13 bytes; the word of 48
// bits.
[[nodiscard]] inline Key128 widened(const Key128& key) { return key; }
[[nodiscard]] inline Key128 widened(const Key104& key) {
  Key128 wide{};
  std::memcpy(&wide, &key, sizeof(key));
  return wide;
}
[[nodiscard]] inline Key128 widened(const Key48& key) { return {{key.word << 16, key.word & 1}}; }
template <class Key>
[[nodiscard]] Key narrowed(const Key128& wide) {
  static_assert(std::is_same_v<Key, Key128> || std::is_same_v<Key, Key104> ||
                std::is_same_v<Key, Key48>);
  if constexpr (std::is_same_v<Key, Key48>) {
    return Key48{wide.words[0] >> 16};
  } else {
    Key key;
    std::memcpy(&key, &wide, sizeof(key));
    return key;
  }
}

// Whether a key is one of those that are inserted.
[[nodiscard]] constexpr bool is_inserted_key(const Key128& key) { return (key.words[1] & 1) == 0; }
[[nodiscard]] constexpr bool is_inserted_key(const Key104& key) { return (key.bytes[8] & 1) == 0; }
[[nodiscard]] constexpr bool is_inserted_key(const Key48& key) { return (key.word & 1) == 0; }

// The value that goes with a key.
template <class Value = Value128, class Key>
[[nodiscard]] Value value_of(const Key& key) {
  const Key128 wide = widened(key);
  const Value128 value = {
      {mix(wide.words[0] + 0x632BE59BD9B4E019U), mix(wide.words[1] + 0x9E6C63D0876A3F6BU)}};
  if constexpr (std::is_same_v<Value, Value128>) {
    return value;
  } else {
    return Value{static_cast<decltype(Value::word)>(value.words[0])};
  }
}

// One word of a value, to sum up; of 16 bits what all generations have in common.
[[nodiscard]] constexpr uint64_t word_of(const Value128& value) { return value.words[0]; }
[[nodiscard]] constexpr uint64_t word_of(const Value32& value) { return value.word; }
[[nodiscard]] constexpr uint64_t word_of(const Value16& value) { return value.word >> 8; }

}  // namespace roost::traffic
