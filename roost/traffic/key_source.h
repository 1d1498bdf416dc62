// The keys of one seed, by index. A key's first word is a bijective mix of its index, so keys are
// distinct without a set to remember them in.
#pragma once

#include <cstdint>

#include "roost/traffic/key.h"

namespace roost::traffic {

class KeySource {
 public:
  // Keys of 128 bits, or of 104: then the others are zero. Or of 48: they have an index each up to
  // 2^47, and the same in every form.
  explicit KeySource(uint64_t seed, unsigned key_bits = 128);

  // The index-th key to insert, and the index-th key that is never inserted.
  [[nodiscard]] Key128 inserted(uint64_t index) const;
  [[nodiscard]] Key128 absent(uint64_t index) const;

  [[nodiscard]] uint64_t seed() const { return seed_; }

 private:
  [[nodiscard]] Key128 spread(uint64_t seed, uint64_t index) const;

  uint64_t seed_;
  bool is_of_48_bits_;
  uint64_t second_word_mask_;
};

}  // namespace roost::traffic
