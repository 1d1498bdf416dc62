// CRC-8 of polynomial 0x31 with initial value 0, most significant bit first: the hash of a switch's
// pipeline. Of the two forms of 0x31 it is the one that is not reflected; its check value is 0xa2
// (ledger X-101).
//
// A CRC is linear: seeds that enter as initial value, prefix or by exclusive or leave the
// difference of two keys' hashes as it is, so that keys that collide do so under each of them
// . So a seed is added to the key, by one addition of 32 bits, which every target has.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace roost::compact {

namespace detail {

// By place, from the least significant byte on: what a byte there adds to the hash of a key.
using Crc8Tables = std::array<std::array<uint8_t, 256>, sizeof(uint64_t)>;

constexpr Crc8Tables make_crc8_tables() {
  constexpr uint8_t kPolynomial = 0x31;
  Crc8Tables tables{};
  for (size_t byte = 0; byte < 256; ++byte) {
    auto crc = static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      const bool is_set = (crc & 0x80U) != 0;
      crc = static_cast<uint8_t>(crc << 1);
      if (is_set) crc ^= kPolynomial;
    }
    tables[0][byte] = crc;
  }
  for (size_t place = 1; place < tables.size(); ++place)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[place][byte] = tables[0][tables[place - 1][byte]];
  return tables;
}

inline constexpr Crc8Tables kCrc8Tables = make_crc8_tables();

// By bit of the hash: those bits of a key that it is the parity of.
constexpr std::array<uint64_t, 8> make_crc8_masks() {
  std::array<uint64_t, 8> masks{};
  for (size_t of_key = 0; of_key < 64; ++of_key) {
    const uint8_t crc = kCrc8Tables[of_key / 8][size_t{1} << of_key % 8];
    for (size_t bit = 0; bit < masks.size(); ++bit)
      masks[bit] |= uint64_t{crc >> bit & 1U} << of_key;
  }
  return masks;
}

inline constexpr std::array<uint64_t, 8> kCrc8Masks = make_crc8_masks();

}  // namespace detail

// Of what came before and one byte more.
[[nodiscard]] constexpr uint8_t crc8_append(uint8_t crc, uint8_t byte) {
  return detail::kCrc8Tables[0][crc ^ byte];
}

// Of a key's bytes, the most significant first. Leading zeroes change nothing, so a key's width
// need not be known.
[[nodiscard]] constexpr uint8_t crc8(uint64_t key) {
  uint8_t crc = 0;
  for (size_t place = 0; place < detail::kCrc8Tables.size(); ++place)
    crc ^= detail::kCrc8Tables[place][key >> (8 * place) & 0xff];
  return crc;
}

// A key with a seed in its low 32 bits.
[[nodiscard]] constexpr uint64_t seeded(uint64_t key, uint8_t seed) {
  constexpr uint64_t kLow = UINT32_MAX;
  return (key & ~kLow) | ((key + seed) & kLow);
}

inline constexpr size_t kBucketSlots = 4;

// The slot of a hash: bits 7 and 6 plus bits 4 and 3 (PAR-04). Its two lowest bits alone fail more
// buckets.
[[nodiscard]] constexpr size_t slot_of_crc(uint8_t crc) {
  return ((crc >> 6) + (crc >> 3 & 3U)) % kBucketSlots;
}

// The slot of a key in a bucket with this seed: slot_of_crc(crc8(seeded(key, seed))) by the four
// bits that it takes of the hash, each a parity, for which processors count bits.
[[nodiscard]] constexpr size_t slot_of(uint64_t key, uint8_t seed) {
  const uint64_t hashed = seeded(key, seed);
  const auto count = [hashed](size_t bit) {
    return static_cast<unsigned>(std::popcount(hashed & detail::kCrc8Masks[bit]));
  };
  return (2 * (count(7) + count(4)) + (count(6) & 1U) + (count(3) & 1U)) % kBucketSlots;
}

}  // namespace roost::compact
