// A keyed permutation of short keys: different keys have different hashes, and the hash gives the
// key back.
//
// Idea: multiplication by an odd number modulo 2^n can be undone, and so can exclusive or with a
// word's own upper half. Three multiplications by secret numbers with two such folds between mix
// every bit of a key into the bits that pick its bucket, which are the uppermost ones. The key is
// kept in the upper n bits of a word, so that products wrap where they should:
//
//     x = (key << (64 - n)) ^ s0;   x *= m0;  fold;  x *= m1;  fold;  x *= m2
//
// The hash is those n bits, still the uppermost; the bits below are zero. Worked example, n = 8
// bits of a byte without the shift: multiplication by 3 is undone by multiplication by 171, since
// 3 * 171 = 513 = 2 * 256 + 1.
//
// Limits: 8 to 60 bits. It is not a cipher: it keeps chosen keys apart from each other's buckets
// for those who know neither the seed nor what collides, no more
// (docs/decisions/0021-packed-layout.md).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/hash/hash64.h"
#include "roost/hash/split_mix.h"

namespace roost {

// A hash of keys of a number of bits that gives the key back.
template <class H>
concept Permutation =
    std::constructible_from<H, uint64_t, unsigned> && requires(const H& permutation, Hash64 hash) {
      { permutation.bits() } -> std::same_as<unsigned>;
      { permutation.key_of(hash) } -> std::same_as<uint64_t>;
    };

class KeyedPermutation {
 public:
  static constexpr const char* kName = "permutation";
  static constexpr unsigned kBitsMin = 8;
  static constexpr unsigned kBitsMax = 60;

  // Of keys of `bits` bits. The same seed gives the same permutation on every machine.
  constexpr KeyedPermutation(uint64_t seed, unsigned bits)
      : shift_(64 - bits), fold_((bits + 1) / 2), mask_(~uint64_t{0} << (64 - bits)) {
    ROOST_ASSERT(bits >= kBitsMin && bits <= kBitsMax);
    mask_word_ = split_mix(seed) & mask_;
    for (size_t i = 0; i < factors_.size(); ++i) {
      factors_[i] = split_mix(seed) | 1;
      inverses_[i] = inverse_of(factors_[i]);
    }
  }

  [[nodiscard]] constexpr unsigned bits() const { return 64 - shift_; }

  // Of a key's padded word; what it has beyond its bits does not count.
  [[nodiscard]] constexpr Hash64 permuted(uint64_t key) const {
    uint64_t word = (key << shift_) ^ mask_word_;
    word *= factors_[0];
    word ^= (word >> fold_) & mask_;
    word *= factors_[1];
    word ^= (word >> fold_) & mask_;
    return Hash64{word * factors_[2]};
  }

  // The key of a hash.
  [[nodiscard]] constexpr uint64_t key_of(Hash64 hash) const {
    uint64_t word = hash.bits * inverses_[2];
    word ^= (word >> fold_) & mask_;
    word *= inverses_[1];
    word ^= (word >> fold_) & mask_;
    return ((word * inverses_[0]) ^ mask_word_) >> shift_;
  }

  // As hashes of tables are asked for.
  template <size_t kBytes>
  [[nodiscard]] Hash64 hash(const void* key) const {
    static_assert(kBytes == 8, "a key is one word");
    uint64_t word = 0;
    std::memcpy(&word, key, sizeof(word));
    return permuted(word);
  }

 private:
  // Newton's iteration doubles the bits that are right; the three lowest are at the start.
  static constexpr uint64_t inverse_of(uint64_t odd) {
    uint64_t inverse = odd;
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    return inverse;
  }

  unsigned shift_;
  unsigned fold_;  // half of the bits or more, so that folding twice changes nothing
  uint64_t mask_;
  uint64_t mask_word_ = 0;
  std::array<uint64_t, 3> factors_{};
  std::array<uint64_t, 3> inverses_{};
};

// For tests and adversaries: a key is its own hash.
class IdentityPermutation {
 public:
  static constexpr const char* kName = "identity";

  constexpr IdentityPermutation(uint64_t /*seed*/, unsigned bits) : shift_(64 - bits) {}
  [[nodiscard]] constexpr unsigned bits() const { return 64 - shift_; }
  [[nodiscard]] constexpr Hash64 permuted(uint64_t key) const { return Hash64{key << shift_}; }
  [[nodiscard]] constexpr uint64_t key_of(Hash64 hash) const { return hash.bits >> shift_; }

  template <size_t kBytes>
  [[nodiscard]] Hash64 hash(const void* key) const {
    uint64_t word = 0;
    std::memcpy(&word, key, sizeof(word));
    return permuted(word);
  }

 private:
  unsigned shift_;
};

static_assert(Permutation<KeyedPermutation> && Permutation<IdentityPermutation>);

}  // namespace roost
