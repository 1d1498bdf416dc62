// Jump consistent hash (Lamping and Veach, "A fast, minimal memory, consistent hash algorithm",
// 2014): the backend as a function of the flow's hash and of how many there are, without a table.
//
// The idea. When the n-th bucket comes, a flow moves into it with probability 1/n. Instead of
// asking at every n, the algorithm draws at which n the flow moves next, until that is beyond the
// count: about ln n draws.
//
// Buckets are numbers, and the numbers have no gap. So only the last one can go, or one more come,
// with least disruption: flows then move from or to that one only. When a backend in the middle of
// the list goes, all behind it move up by a number, and most of their flows change backends. The
// order of the list counts.
//
// Weights are not the algorithm's: a backend has as many buckets as its weight, after all weights
// were divided by what divides them all. A weight that changes is buckets that come or go in the
// middle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/balance/flow_draw.h"
#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::balance {

// Which of so many buckets a key is in: the paper's figure 1. `bucket_count` is not 0.
[[nodiscard]] constexpr uint32_t jump_bucket(uint64_t key, uint32_t bucket_count) {
  uint32_t bucket = 0;
  uint64_t next = 0;
  while (next < bucket_count) {
    bucket = static_cast<uint32_t>(next);
    key = key * 2'862'933'555'777'941'757U + 1;
    // Division and product of doubles: correctly rounded, and so the same on every machine.
    const double over_draw = 0x1p31 / static_cast<double>((key >> 33) + 1);
    next = static_cast<uint64_t>(static_cast<double>(next + 1) * over_draw);
  }
  return bucket;
}

// Immutable once made: any number of threads may pick.
class Jump {
 public:
  static constexpr bool kKeepsHistory = false;
  static constexpr uint64_t kBucketCountMax = uint64_t{1} << 24;

  struct Config {
    std::span<const WeightedBackend> backends{};
    uint64_t seed = 0;
  };

  // Refuses what refuse_backends does, and weights that stand for more than kBucketCountMax
  // buckets.
  static Result<Jump> create(const Config& config);

  // O(log of the number of buckets).
  [[nodiscard]] std::optional<size_t> pick(uint64_t flow_hash) const {
    if (owners_.empty()) return std::nullopt;
    const auto bucket_count = static_cast<uint32_t>(owners_.size());
    return owners_[jump_bucket(flow_hash ^ salt_, bucket_count)];
  }

  [[nodiscard]] Result<Jump> next(std::span<const WeightedBackend> backends) const {
    return create({backends, seed_});
  }

  [[nodiscard]] uint64_t memory_bytes() const { return owners_.size() * sizeof(owners_[0]); }

 private:
  Jump(uint64_t seed, std::vector<uint16_t> owners)
      : seed_(seed), salt_(seed_salt(seed)), owners_(std::move(owners)) {}

  uint64_t seed_;
  uint64_t salt_;
  std::vector<uint16_t> owners_;  // by bucket, in the order of the list
};

}  // namespace roost::balance
