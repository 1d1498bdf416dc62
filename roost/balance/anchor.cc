#include "roost/balance/anchor.h"

#include <algorithm>
#include <bit>

namespace roost::balance {
namespace {

uint64_t sum_of_weights(std::span<const WeightedBackend> backends) {
  uint64_t sum = 0;
  for (const WeightedBackend& backend : backends) sum += backend.weight;
  return sum;
}

}  // namespace

// All buckets have gone, the last one first, so that they come in order of their numbers.
Anchor::Anchor(const Config& config, uint32_t capacity)
    : seed_(config.seed),
      salt_(seed_salt(config.seed)),
      working_then_(capacity),
      replaced_by_(capacity),
      owners_(capacity, kNoBackend) {
  for (uint32_t bucket = capacity; bucket-- > 0;) {
    working_then_[bucket] = bucket;
    replaced_by_[bucket] = bucket;
    removed_.push_back(bucket);
  }
}

Result<Anchor> Anchor::create(const Config& config) {
  const uint64_t needed =
      std::max({sum_of_weights(config.backends), uint64_t{config.capacity_min}, uint64_t{1}});
  if (needed > kCapacityMax) {
    return Error{"AnchorHash has a bucket for each unit of weight, and these are " +
                 std::to_string(needed) + "; use at most " + std::to_string(kCapacityMax)};
  }
  return Anchor(config, static_cast<uint32_t>(std::bit_ceil(needed))).next(config.backends);
}

Result<Anchor> Anchor::next(std::span<const WeightedBackend> backends) const {
  if (std::optional<Error> error = refuse_backends(backends)) return *std::move(error);
  if (sum_of_weights(backends) > capacity()) {
    return create({backends, seed_, capacity() < kCapacityMax ? 2 * capacity() : kCapacityMax});
  }
  Anchor made = *this;
  made.backends_.assign(backends.begin(), backends.end());
  const std::vector<uint16_t> indices = indices_by_name(backends_, backends);
  std::vector<uint32_t> missing;  // buckets, by backend
  for (const WeightedBackend& backend : backends) missing.push_back(backend.weight);

  for (uint32_t bucket = 0; bucket < capacity(); ++bucket) {
    if (owners_[bucket] == kNoBackend) continue;
    const uint16_t owner = indices[owners_[bucket]];
    if (owner != kNoBackend && missing[owner] > 0) {
      --missing[owner];
      made.owners_[bucket] = owner;
    } else {
      made.remove(bucket);
    }
  }
  for (const uint16_t owner : weighted_by_name(backends)) {
    for (; missing[owner] > 0; --missing[owner]) made.owners_[made.add()] = owner;
  }
  return made;
}

void Anchor::remove(uint32_t bucket) {
  // What the last number stands for now; the number itself would do, by a longer way in each pick.
  const uint32_t replacement = seen_with(working_count_ - 1, working_count_);
  --working_count_;
  removed_.push_back(bucket);
  working_then_[bucket] = working_count_;
  replaced_by_[bucket] = replacement;
  owners_[bucket] = kNoBackend;
}

uint32_t Anchor::add() {
  const uint32_t bucket = removed_.back();
  removed_.pop_back();
  ++working_count_;
  working_then_[bucket] = 0;
  replaced_by_[bucket] = bucket;
  return bucket;
}

}  // namespace roost::balance
