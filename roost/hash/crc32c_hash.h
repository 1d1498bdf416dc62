// CRC32C as a table's hash: for comparison only, never the default.
//
// A CRC is linear: keys whose difference has CRC 0 collide under every seed, so that an attacker
// can fill one bucket pair and have every further insert refused. tests/hash builds 100,000 such
// keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/hash/hash64.h"
#include "roost/isa/crc32c.h"

namespace roost {

class Crc32cHash {
 public:
  static constexpr const char* kName = "crc32c";

  constexpr explicit Crc32cHash(uint64_t seed) : seed_(seed) {}

  // Two CRCs of the key under two seeds make 64 bits; they hold no more than 32 bits of
  // information.
  template <size_t kBytes>
  [[nodiscard]] Hash64 hash(const void* key) const {
    auto low = static_cast<uint32_t>(seed_);
    auto high = static_cast<uint32_t>(seed_ >> 32);
    for (size_t offset = 0; offset < kBytes; offset += 8) {
      uint64_t word = 0;
      std::memcpy(&word, static_cast<const unsigned char*>(key) + offset, 8);
      low = crc32c(low, word);
      high = crc32c(high, word);
    }
    // The multiplication spreads the bits that pick a bucket and those of the tag over the whole
    // word.
    return Hash64{((uint64_t{high} << 32) | low) * 0x9E3779B97F4A7C15U};
  }

 private:
  uint64_t seed_;
};

}  // namespace roost
