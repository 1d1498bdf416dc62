// From a hash to its primary bucket, and from a bucket and a tag to the other bucket.
//
// Idea: the two buckets of a key sum up, modulo the bucket count n, to a number that the tag alone
// decides:
//
//     other(b, tag) = (sum(tag) - b) mod n      hence      other(other(b, tag), tag) = b
//
// So an entry can be moved, dropped or told of by its tag, without reading its key. (Partial-key
// cuckoo hashing does this by exclusive or, which wants n to be a power of two.) With n even and
// sum(tag) odd, the two buckets have different parity: they always differ, and half of the
// buckets hold a key's primary, the other half its secondary, as in cuckoo hashing with two tables.
//
// Example, n = 10: a tag with sum 7 pairs buckets 0-7, 1-6, 2-5, 3-4, 8-9.
//
// Where keys can be hashed again, a secondary bucket may also be one of a few that a bucket's
// functions lead to: functions scatter like hashes, so they cannot be undone, but knowing
// which functions were used leads to all that a bucket's keys went to.
#pragma once

#include <cstdint>

#include "roost/base/assert.h"
#include "roost/hash/hash64.h"

namespace roost {

class BucketMap {
 public:
  // `bucket_count` is even and at least 2.
  constexpr explicit BucketMap(uint64_t bucket_count) : bucket_count_(bucket_count) {
    ROOST_ASSERT(bucket_count >= 2 && bucket_count % 2 == 0);
  }

  [[nodiscard]] constexpr uint64_t bucket_count() const { return bucket_count_; }

  [[nodiscard]] constexpr BucketIndex primary(Hash64 hash) const {
    return BucketIndex{multiply_wide(hash.bits, bucket_count_).high};
  }

  // The hash of `bits` uppermost bits, and zeroes below, that leads to a primary bucket and has
  // these lowest ones of the `bits`: so many that no other hash of the bucket has them too.
  // Example: of hashes of 6 bits over 8 buckets, 24 to 31 lead to bucket 3; 0b101 are the lowest
  // ones of 29.
  [[nodiscard]] constexpr Hash64 hash_in(BucketIndex primary, unsigned bits, uint64_t lowest,
                                         uint64_t lowest_mask) const {
    __extension__ using Wide = unsigned __int128;
    const Wide scaled = (Wide{static_cast<uint64_t>(primary)} << bits) + (bucket_count_ - 1);
    const auto first = static_cast<uint64_t>(scaled / bucket_count_);
    return Hash64{(first + ((lowest - first) & lowest_mask)) << (64 - bits)};
  }

  // The secondary bucket of an entry in its primary one, and the other way round.
  [[nodiscard]] constexpr BucketIndex other(BucketIndex bucket, Tag tag) const {
    // 2^64 / golden ratio spreads consecutive tags evenly over the buckets.
    const uint64_t spread = static_cast<uint64_t>(tag) * 0x9E3779B97F4A7C15U;
    const uint64_t sum = multiply_wide(spread, bucket_count_).high | 1;
    const uint64_t difference = sum - static_cast<uint64_t>(bucket);
    return BucketIndex{static_cast<int64_t>(difference) < 0 ? difference + bucket_count_
                                                            : difference};
  }

  // The bucket that a function leads to from `bucket`: of the other parity, hence another one.
  [[nodiscard]] constexpr BucketIndex reached(BucketIndex bucket, unsigned function) const {
    // A sum of multiples alone would be a regular grid, in which two steps reach few buckets.
    const auto from = static_cast<uint64_t>(bucket);
    const uint64_t mixed = (from + 1) * (2 * uint64_t{function} + 0x9E3779B97F4A7C15U);
    const uint64_t scattered = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93U;
    return BucketIndex{(multiply_wide(scattered, bucket_count_).high & ~uint64_t{1}) | (~from & 1)};
  }

 private:
  uint64_t bucket_count_;
};

}  // namespace roost
