// The default hash: 64 good bits under a secret seed.
//
// Idea: the 128-bit product of two words, folded to 64 bits by exclusive or, mixes both completely;
// words of the key are combined with secret words before they are multiplied, so that without the
// seed keys cannot be chosen to collide (the folded multiply of wyhash and its relatives). It is
// keyed, not a cryptographic function: it withstands flooding by an attacker that sees neither
// the seed nor the buckets.
//
// Two multiplications for 16 bytes, four for 40. Golden values are in tests/hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/hash/hash64.h"
#include "roost/hash/split_mix.h"

namespace roost {

class KeyedHash {
 public:
  static constexpr const char* kName = "keyed";

  // The same seed gives the same hashes on every machine.
  constexpr explicit KeyedHash(uint64_t seed) {
    for (uint64_t& word : secret_) word = split_mix(seed);
  }

  // Hash of `kBytes` bytes at `key`, any alignment; kBytes is a multiple of 8.
  template <size_t kBytes>
  [[nodiscard]] Hash64 hash(const void* key) const {
    static_assert(kBytes % 8 == 0 && kBytes >= 8 && kBytes <= 64, "padded keys are 1 to 8 words");
    constexpr size_t kWords = kBytes / 8;
    uint64_t state = secret_[8];
    for (size_t word = 0; word + 2 <= kWords; word += 2) {
      state = fold_product(load(key, word) ^ secret_[word],
                           load(key, word + 1) ^ secret_[word + 1] ^ state);
    }
    if constexpr (kWords % 2 != 0) {
      state = fold_product(load(key, kWords - 1) ^ secret_[kWords - 1], state ^ secret_[9]);
    }
    return Hash64{fold_product(state ^ secret_[10], kWords ^ secret_[11])};
  }

 private:
  static uint64_t load(const void* key, size_t word) {
    uint64_t value = 0;
    std::memcpy(&value, static_cast<const unsigned char*>(key) + word * 8, 8);
    return value;
  }

  std::array<uint64_t, 12> secret_{};
};

}  // namespace roost
