// The lines of a table's buckets, which are the first bytes of every layout's image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/hash/hash64.h"

namespace roost {

// How many buckets a table has: those that hashes lead to, and the stash's behind.
struct BucketCounts {
  uint64_t hashed;
  uint64_t stash;
  [[nodiscard]] constexpr uint64_t all() const { return hashed + stash; }
  friend bool operator==(BucketCounts, BucketCounts) = default;
};

// `LineT` is a BucketLine; lines are read and changed through `AccessT` (access.h).
template <class LineT, class AccessT>
class BucketLines {
 public:
  using Line = LineT;
  using Access = AccessT;

  // `image` is aligned to 64 bytes.
  BucketLines(std::byte* image, BucketCounts counts)
      : lines_(reinterpret_cast<Line*>(image)), counts_(counts) {}

  [[nodiscard]] BucketCounts bucket_counts() const { return counts_; }
  [[nodiscard]] bool is_stash(BucketIndex bucket) const {
    return static_cast<uint64_t>(bucket) >= counts_.hashed;
  }

  // A line, or a copy of it, to be read.
  [[nodiscard]] decltype(auto) line(BucketIndex bucket) const {
    return Access::look(line_at(bucket));
  }
  // Where it is.
  [[nodiscard]] const Line& line_at(BucketIndex bucket) const {
    return lines_[static_cast<uint64_t>(bucket)];
  }
  [[nodiscard]] BucketIndex bucket_of(const Line& line) const {
    return BucketIndex{static_cast<uint64_t>(&line - lines_)};
  }

  // Lets change(line) change it.
  template <class Change>
  [[gnu::always_inline]] void change(BucketIndex bucket, Change&& change) {
    Access::change(edit(bucket), change);
  }
  // The same without Access: for tables that nobody else reads.
  [[nodiscard]] Line& edit(BucketIndex bucket) { return lines_[static_cast<uint64_t>(bucket)]; }

 private:
  Line* lines_;
  BucketCounts counts_;
};

}  // namespace roost
