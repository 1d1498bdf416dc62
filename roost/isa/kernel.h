// What a kernel is: the few operations on a bucket line and on keys that profit from vector
// instructions.
//
// One file an instruction set, same members. The scalar kernel is the definition; tests hold every
// other kernel against it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "roost/isa/isa.h"

namespace roost {

// The sizes of padded keys, so that kernels compare whole registers.
inline constexpr std::array<size_t, 6> kPaddedKeyBytes = {8, 16, 24, 32, 40, 64};

template <class K>
concept Kernel = requires(const uint16_t* eight, uint16_t value, const uint64_t* words,
                          uint64_t word, const uint8_t* bytes, const void* key, size_t key_bytes) {
  // Which instruction set this kernel needs.
  { K::kIsa } -> std::convertible_to<Isa>;

  // Bit i is set where eight[i] == value. `eight` is 16-byte aligned.
  { K::match_tags(eight, value) } -> std::same_as<uint8_t>;

  // Bit i is set where the 16-bit difference eight[i] - value is below 1,024. `eight` is
  // 16-byte aligned.
  { K::match_live(eight, value) } -> std::same_as<uint8_t>;

  // Both at once: where tags[i] == tag and timers[i] - now is below 1,024.
  { K::match_live_tags(eight, value, eight, value) } -> std::same_as<uint8_t>;

  // Bit i is set where the lower 48 bits of words[i], of eight that are 64-byte aligned, are those
  // of `word`.
  { K::match_words(words, word) } -> std::same_as<uint8_t>;

  // Bit i is set where bytes[i] != 0, of 32 bytes that are 32-byte aligned: what a group of
  // lanes found, a byte a lane, as bits.
  { K::nonzero_bytes(bytes) } -> std::same_as<uint32_t>;

  // Whether two keys of that many bytes, at any alignment, are the same: for every padded key.
  { K::template equal_keys<8>(key, key) } -> std::same_as<bool>;
  { K::template equal_keys<16>(key, key) } -> std::same_as<bool>;
  { K::template equal_keys<24>(key, key) } -> std::same_as<bool>;
  { K::template equal_keys<32>(key, key) } -> std::same_as<bool>;
  { K::template equal_keys<40>(key, key) } -> std::same_as<bool>;
  { K::template equal_keys<64>(key, key) } -> std::same_as<bool>;

  // Bit i, below the first argument, is set where the `key_bytes` bytes at keys + i * key_bytes
  // are the first ones at `key`, any alignment. At each place, as many bytes are read as the
  // second argument says: the padded size of `key_bytes`, which is 4 to 16.
  { K::template match_keys<2, 8>(key, key_bytes, key) } -> std::same_as<unsigned>;
  { K::template match_keys<3, 16>(key, key_bytes, key) } -> std::same_as<unsigned>;
};

// A timer is live while it lies fewer than this many ticks ahead of now (CPP-14).
inline constexpr uint16_t kLiveTicks = 1024;

}  // namespace roost
