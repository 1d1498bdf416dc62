// Keys, values and query streams of a measurement, all from one seed.
//
// A key is a bijective mix of its index, so inserted keys are distinct without a set to remember
// them in; the top bit of its second word says whether the key belongs to the inserted or to the
// absent ones, so a query that must miss can never be in the table. A value is a function of its
// key, so every answer can be checked without storing what was inserted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace roost::lab {

struct Key {
  std::array<uint64_t, 2> words;

  friend bool operator==(const Key&, const Key&) = default;
};
static_assert(sizeof(Key) == 16, "the measured key class is 16 bytes");

struct Value {
  std::array<uint64_t, 2> words;

  friend bool operator==(const Value&, const Value&) = default;
};
static_assert(sizeof(Value) == 16, "the measured value class is 16 bytes");

// SplitMix64's finisher: bijective, every output bit depends on every input bit.
[[nodiscard]] constexpr uint64_t mix(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

// Whether a key is one of those a measurement inserts.
[[nodiscard]] constexpr bool is_inserted_key(const Key& key) { return (key.words[1] >> 63) == 0; }

// The value that goes with a key.
[[nodiscard]] constexpr Value value_of(const Key& key) {
  return {{mix(key.words[0] + 0x632BE59BD9B4E019U), mix(key.words[1] + 0x9E6C63D0876A3F6BU)}};
}

class Workload {
 public:
  explicit Workload(uint64_t seed) : seed_(seed) {}

  // The index-th key to insert, and the index-th key that is never inserted.
  [[nodiscard]] Key inserted_key(uint64_t index) const;
  [[nodiscard]] Key absent_key(uint64_t index) const;

  struct StreamShape {
    uint64_t entry_count;  // how many keys are inserted; hits are drawn from them evenly, with
                           // repetition
    size_t lookup_count;
    double miss_ratio;  // exact share of absent keys, at random positions
  };
  // Queries in random order. The same seed and shape give the same stream.
  [[nodiscard]] std::vector<Key> stream(const StreamShape& shape) const;

 private:
  uint64_t seed_;
};

}  // namespace roost::lab
