#include "lab/harness/workload.h"

#include <bit>
#include <cmath>
#include <utility>

#include "roost/hash/hash64.h"

namespace roost::lab {
namespace {

constexpr uint64_t kTopBit = uint64_t{1} << 63;

// SplitMix64 as a generator.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}

  // Evenly from 0 to bound - 1.
  uint64_t below(uint64_t bound) {
    state_ += 0x9E3779B97F4A7C15U;
    return multiply_wide(mix(state_), bound).high;
  }

 private:
  uint64_t state_;
};

Key spread(uint64_t seed, uint64_t index) {
  const uint64_t first = mix(index + seed);
  return {{first, mix(first ^ 0xD1B54A32D192ED03U)}};
}

}  // namespace

Key Workload::inserted_key(uint64_t index) const {
  Key key = spread(seed_, index);
  key.words[1] &= ~kTopBit;
  return key;
}

Key Workload::absent_key(uint64_t index) const {
  Key key = spread(~seed_, index);
  key.words[1] |= kTopBit;
  return key;
}

std::vector<Key> Workload::stream(const StreamShape& shape) const {
  Draw draw(mix(seed_ ^ shape.entry_count) ^ std::bit_cast<uint64_t>(shape.miss_ratio));
  const auto miss_count =
      static_cast<size_t>(std::llround(static_cast<double>(shape.lookup_count) * shape.miss_ratio));
  std::vector<Key> keys;
  keys.reserve(shape.lookup_count);
  for (size_t lookup = 0; lookup < shape.lookup_count; ++lookup) {
    keys.push_back(lookup < miss_count ? absent_key(lookup)
                                       : inserted_key(draw.below(shape.entry_count)));
  }
  for (size_t left = keys.size(); left > 1; --left)
    std::swap(keys[left - 1], keys[draw.below(left)]);
  return keys;
}

}  // namespace roost::lab
