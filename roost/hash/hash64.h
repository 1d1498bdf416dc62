// A 64-bit hash of a key, and what a table takes from it.
//
//   63                              16 15        0
//   +---------------------------------+----------+
//   | picks the primary bucket (from  |   tag    |
//   | the top bits down)              |          |
//   +---------------------------------+----------+
//
// The primary bucket is the high half of hash * bucket_count, so any bucket count will do and its
// bits do not overlap the tag's up to 2^48 buckets.
#pragma once

#include <cstdint>

namespace roost {

struct Hash64 {
  uint64_t bits;

  friend bool operator==(Hash64, Hash64) = default;
};

// What a bucket keeps of an entry's hash (CPP-03): 16 bits, or as many as a layout has room for.
enum class Tag : uint64_t {};

// Which bucket, counted from zero; below the table's bucket count.
enum class BucketIndex : uint64_t {};

// The tag of 16 bits.
[[nodiscard]] constexpr Tag tag_of(Hash64 hash) { return Tag{static_cast<uint16_t>(hash.bits)}; }

// High and low half of the 128-bit product of two words.
struct Product128 {
  uint64_t high;
  uint64_t low;
};

[[nodiscard]] constexpr Product128 multiply_wide(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
}

// The two halves of a product in 64 bits, which mixes both words completely.
[[nodiscard]] constexpr uint64_t fold_product(uint64_t a, uint64_t b) {
  const Product128 product = multiply_wide(a, b);
  return product.high ^ product.low;
}

}  // namespace roost
