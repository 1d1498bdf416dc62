// Which buckets to look at for entries that could go home: all of them once, after the last
// departure. Nothing could go home that could not before, otherwise.
#pragma once

#include <cstdint>

#include "roost/hash/hash64.h"

namespace roost {

// Buckets that an insert looks at. A table of eight slots a bucket is gone over fifteen times while
// each entry is replaced once, one of two slots three times. With one bucket, hits and misses at
// load 0.8 touch 1.2 and 1.3 times as many second lines as when it was filled; with two, 1.1 and
// 1.2 times.
inline constexpr unsigned kSettledByInsert = 2;

class Settling {
 public:
  // An entry has left.
  void depart(uint64_t bucket_count) { left_ = bucket_count; }

  // Whether there is a bucket to look at, and which one.
  [[nodiscard]] bool is_due() const { return left_ != 0; }
  [[nodiscard]] BucketIndex next(uint64_t bucket_count) {
    --left_;
    if (++last_ >= bucket_count) last_ = 0;
    return BucketIndex{last_};
  }

  // Counts stash slots, over and over.
  [[nodiscard]] uint64_t next_stash_slot() { return stash_slots_++; }

 private:
  uint64_t left_ = 0;
  uint64_t last_ = 0;
  uint64_t stash_slots_ = 0;
};

}  // namespace roost
