// Where what stands in the image of a Parrot table.
//
//   head | model's lines | spline's prefixes | buckets | keys by slot, if kept | stash entries
//
//   bucket   stash word 64 | seed 8 | 4 slots of value and fingerprint      72 + 4 x slot bits
//   stash    runs of entries, sorted by key: key | value, in whole bytes
//
// The word of a bucket that has entries in the stash says where they begin, how many there are, and
// by a filter of 16 bits which keys are not among them. A bucket whose four keys no seed tells
// apart has all of them in its run, and no slot; so no seed has to mean "failed", and there
// is no second table to ask.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/compact/crc8.h"
#include "roost/compact/image_head.h"
#include "roost/compact/image_memory.h"
#include "roost/compact/monotone_model.h"

namespace roost::compact {

// As many entries of the stash a lookup may look at.
inline constexpr size_t kStashWalkMax = 16;

struct ParrotShape {
  uint32_t key_bits = 0;          // 1 to 64
  uint32_t value_bits = 0;        // 4 to 32
  uint32_t fingerprint_bits = 0;  // 0, 8, 12 or 16
  uint32_t has_keys = 0;          // whether keys stand by their slots

  [[nodiscard]] constexpr uint32_t slot_bits() const { return value_bits + fingerprint_bits; }
  [[nodiscard]] constexpr size_t bucket_bytes() const {
    return sizeof(uint64_t) + 1 + (kBucketSlots * slot_bits() + 7) / 8;
  }
  [[nodiscard]] constexpr size_t key_bytes() const { return (key_bits + 7) / 8; }
  [[nodiscard]] constexpr size_t entry_bytes() const { return key_bytes() + (value_bits + 7) / 8; }
  [[nodiscard]] constexpr uint64_t key_mask() const { return ~uint64_t{0} >> (64 - key_bits); }
  // The value that nothing has: of empty slots.
  [[nodiscard]] constexpr uint32_t absent() const { return UINT32_MAX >> (32 - value_bits); }

  bool operator==(const ParrotShape&) const = default;
};

// Behind the ImageHead. Offsets are from the image's begin.
struct ParrotHead {
  ImageHead image{};
  ParrotShape shape{};
  ModelHead model{};
  uint64_t hash_seed = 0;  // of fingerprints
  uint64_t bucket_count = 0;
  uint64_t entry_count = 0;  // of the stash, with those that are free
  uint64_t lines_offset = 0;
  uint64_t buckets_offset = 0;
  uint64_t keys_offset = 0;
  uint64_t stash_offset = 0;
  uint64_t zero = 0;
};
static_assert(sizeof(ParrotHead) == 152);

// Bytes of an image by what they are for.
struct ParrotBytes {
  uint64_t head = 0;
  uint64_t model = 0;
  uint64_t buckets = 0;
  uint64_t keys = 0;
  uint64_t stash = 0;

  [[nodiscard]] uint64_t sum() const { return head + model + buckets + keys + stash; }
};

// What a read of eight bytes, or of the two words that have them, may take behind the last bucket
// or entry.
inline constexpr size_t kImagePadding = 16;

// Where a bucket's entries of the stash are.
class StashWord {
 public:
  static constexpr unsigned kFirstBits = 40;
  static constexpr unsigned kCountBits = 8;

  constexpr StashWord() = default;
  constexpr explicit StashWord(uint64_t word) : word_(word) {}
  constexpr StashWord(uint64_t first, size_t count, uint16_t filter)
      : word_(first | uint64_t{count} << kFirstBits |
              uint64_t{filter} << (kFirstBits + kCountBits)) {}

  [[nodiscard]] constexpr uint64_t word() const { return word_; }
  [[nodiscard]] constexpr uint64_t first() const {
    return word_ & ((uint64_t{1} << kFirstBits) - 1);
  }
  [[nodiscard]] constexpr size_t count() const { return word_ >> kFirstBits & 0xff; }
  [[nodiscard]] constexpr uint16_t filter() const {
    return static_cast<uint16_t>(word_ >> (kFirstBits + kCountBits));
  }
  [[nodiscard]] constexpr bool may_have(uint64_t key) const {
    return (uint32_t{filter()} >> filter_bit(key) & 1U) != 0;
  }

  // The exclusive or of the key's groups of four bits.
  [[nodiscard]] static constexpr unsigned filter_bit(uint64_t key) {
    key ^= key >> 32;
    key ^= key >> 16;
    key ^= key >> 8;
    return (key ^ key >> 4) & 0xf;
  }

 private:
  uint64_t word_ = 0;
};

// A bucket of an image, to be read. `Memory`: image_memory.h.
template <class Memory>
class ParrotBucket {
 public:
  ParrotBucket(const ParrotShape& shape, const std::byte* bytes) : shape_(shape), bytes_(bytes) {}

  [[nodiscard]] StashWord stash() const { return StashWord(Memory::load(bytes_)); }
  [[nodiscard]] uint8_t seed() const {
    return static_cast<uint8_t>(Memory::load(bytes_ + kSeedAt));
  }
  // Its value in the low bits, and its fingerprint above them.
  [[nodiscard]] uint64_t slot(size_t slot) const {
    const size_t bit = slot * shape_.slot_bits();
    return Memory::load(bytes_ + kSlotsAt + bit / 8) >> (bit % 8) &
           ((uint64_t{1} << shape_.slot_bits()) - 1);
  }
  [[nodiscard]] uint32_t value(size_t at) const {
    return static_cast<uint32_t>(slot(at)) & shape_.absent();
  }
  [[nodiscard]] bool is_empty(size_t at) const { return value(at) == shape_.absent(); }

  static constexpr size_t kSeedAt = sizeof(uint64_t);
  static constexpr size_t kSlotsAt = kSeedAt + 1;

 private:
  const ParrotShape& shape_;
  const std::byte* bytes_;
};

}  // namespace roost::compact
