#include "roost/traffic/key_source.h"

#include "roost/base/assert.h"

namespace roost::traffic {

KeySource::KeySource(uint64_t seed, unsigned key_bits)
    : seed_(seed),
      is_of_48_bits_(key_bits == 48),
      second_word_mask_(is_of_48_bits_ ? 0 : ~uint64_t{0} >> (128 - key_bits)) {
  ROOST_ASSERT(is_of_48_bits_ || (key_bits > 64 && key_bits <= 128));
}

Key128 KeySource::inserted(uint64_t index) const {
  if (is_of_48_bits_) return widened(Key48{mix47(index + seed_) << 1});
  Key128 key = spread(seed_, index);
  key.words[1] &= ~uint64_t{1};
  return key;
}

Key128 KeySource::absent(uint64_t index) const {
  if (is_of_48_bits_) return widened(Key48{mix47(index + ~seed_) << 1 | 1});
  Key128 key = spread(~seed_, index);
  key.words[1] |= 1;
  return key;
}

Key128 KeySource::spread(uint64_t seed, uint64_t index) const {
  const uint64_t first = mix(index + seed);
  return {{first, mix(first ^ 0xD1B54A32D192ED03U) & second_word_mask_}};
}

}  // namespace roost::traffic
