// Receive side scaling: how a network card chooses the queue for a packet, and the same choice by
// software. A hash of addresses picks an entry of a table, and the entry names the queue.
//
// The hash is Toeplitz': for each bit of the input that is one, the 32 bits of the key that begin
// at that bit, added without carry. Cards compute it, so it is not ours to choose; a secret key
// keeps an attacker from putting all load on one worker.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace roost::net {

// What the hash is of. Of both addresses, and the ports if there are any; or of one address alone.
enum class RssInput : uint8_t { kBoth, kSource, kDestination };

// The longest that cards take. A card that takes 40 bytes uses the first ones.
using RssKey = std::array<uint8_t, 52>;

// Of the least table that cards of several queues have. A longer one repeats it.
inline constexpr size_t kRssEntries = 128;

// Which worker an entry of the table, of any length, stands for.
[[nodiscard]] constexpr size_t rss_worker(size_t entry, size_t worker_count) {
  return entry % kRssEntries % worker_count;
}

// The hash of up to 16 bytes: an address. Four bits of the input at a time, 2 KiB of sums.
class ToeplitzHash {
 public:
  explicit constexpr ToeplitzHash(const RssKey& key) {
    for (size_t digit = 0; digit < sums_.size(); ++digit) {
      for (size_t value = 1; value < sums_[digit].size(); ++value) {
        const size_t bit = 3 - static_cast<size_t>(std::countr_zero(value));
        sums_[digit][value] = sums_[digit][value & (value - 1)] ^ window(key, 4 * digit + bit);
      }
    }
  }

  // The bytes are as on the wire.
  template <size_t kBytes>
  [[nodiscard]] constexpr uint32_t hash(const std::array<uint8_t, kBytes>& bytes) const {
    static_assert(kBytes <= kBytesMax);
    uint32_t sum = 0;
    for (size_t i = 0; i < kBytes; ++i) {
      sum ^= sums_[2 * i][bytes[i] >> 4] ^ sums_[2 * i + 1][bytes[i] & 0xf];
    }
    return sum;
  }

 private:
  static constexpr size_t kBytesMax = 16;

  // 32 bits of the key from this bit on.
  static constexpr uint32_t window(const RssKey& key, size_t bit) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 5; ++i) bits = bits << 8 | key[bit / 8 + i];
    return static_cast<uint32_t>(bits >> (8 - bit % 8));
  }

  std::array<std::array<uint32_t, 16>, 2 * kBytesMax> sums_{};
};

}  // namespace roost::net
