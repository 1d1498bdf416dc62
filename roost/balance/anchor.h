// AnchorHash (Mendelson, Vargaftik, Barabash, Lorenz, Keslassy, Orda, "AnchorHash: A scalable
// consistent hash", IEEE/ACM Transactions on Networking, 2020; algorithm 3, in the form that needs
// two arrays): least disruption with a few reads a pick, for as many buckets as were made room for.
//
// The idea. A flow is hashed over all `capacity` buckets, those that work and those that do not. A
// bucket that does not work remembers how many did just after it went (`working_then_`); the flow
// is hashed again, over the buckets of that moment. These are not kept: they are the numbers below
// that count, where a number whose bucket had gone before stands for the one that took its place
// (`replaced_by_`). So a bucket that goes gives away its own flows only, evenly, and all that went
// before it keep their arrays as they are.
//
// Buckets come back in the reverse order of their going (a stack), whoever they belong to then: a
// backend that returns gets the bucket that went last, which is its own only if it was the last to
// go. The order of all changes is the state: kKeepsHistory.
//
// Weights are not the algorithm's: a backend has as many buckets as its weight. More weight is
// buckets that come, less is buckets that go; no flow moves between two others.
//
// A pick takes 1 + ln(capacity / working) hashes on average. When more buckets are needed than
// there is room for, the capacity is doubled, and that is another hash: most flows move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/balance/flow_draw.h"
#include "roost/balance/weighted_backend.h"
#include "roost/base/result.h"

namespace roost::balance {

// Immutable once made: any number of threads may pick.
class Anchor {
 public:
  static constexpr bool kKeepsHistory = true;
  static constexpr uint32_t kCapacityMax = uint32_t{1} << 24;

  struct Config {
    std::span<const WeightedBackend> backends{};
    uint64_t seed = 0;
    // Buckets to make room for; a power of two that is at least the sum of weights, if that is
    // more.
    uint32_t capacity_min = 1;
  };

  // The backends come in order of their names. Refuses what refuse_backends does, and more than
  // kCapacityMax buckets. O(capacity).
  static Result<Anchor> create(const Config& config);

  [[nodiscard]] std::optional<size_t> pick(uint64_t flow_hash) const {
    if (working_count_ == 0) return std::nullopt;
    return owners_[bucket_of(flow_hash ^ salt_)];
  }

  // First buckets go: those with the highest numbers of each backend that has too many. Then
  // buckets come, for backends in order of their names. O(capacity).
  [[nodiscard]] Result<Anchor> next(std::span<const WeightedBackend> backends) const;

  [[nodiscard]] uint64_t memory_bytes() const {
    return working_then_.size() * (sizeof(uint32_t) + sizeof(uint32_t) + sizeof(uint16_t));
  }
  // How many buckets there is room for.
  [[nodiscard]] uint32_t capacity() const { return static_cast<uint32_t>(working_then_.size()); }
  // The bucket of a flow: owners apart, what the algorithm decides. There must be a working one.
  [[nodiscard]] uint32_t bucket_of(uint64_t key) const {
    uint32_t bucket = below(flow_draw(key, kFirstSalt), capacity());
    while (working_then_[bucket] != 0) {
      const uint32_t count = working_then_[bucket];
      bucket = seen_with(below(flow_draw(key, bucket), count), count);
    }
    return bucket;
  }

 private:
  static constexpr uint64_t kFirstSalt = kCapacityMax;  // no bucket's number

  Anchor(const Config& config, uint32_t capacity);

  // The bucket that a number stood for when so many worked.
  [[nodiscard]] uint32_t seen_with(uint32_t number, uint32_t count) const {
    while (working_then_[number] >= count) number = replaced_by_[number];
    return number;
  }
  void remove(uint32_t bucket);
  uint32_t add();

  uint64_t seed_;
  uint64_t salt_;
  uint32_t working_count_ = 0;
  std::vector<uint32_t> working_then_;     // A of the paper; 0: the bucket works
  std::vector<uint32_t> replaced_by_;      // K
  std::vector<uint32_t> removed_;          // R, the last one at its end
  std::vector<uint16_t> owners_;           // by bucket: an index in the list last given
  std::vector<WeightedBackend> backends_;  // that list
};

}  // namespace roost::balance
