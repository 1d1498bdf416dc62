// Where what stands in the image of a line map.
//
//   head | lines of level 0 | lines of level 1 | ... | keys by line and slot, if kept
//
//   line of 64 bytes   version 32 | a seed of 8 bits a group | slots of value and fingerprint
//
// A key's hash under a level's seed gives its line, its group there, and a word that the group's
// seed sends to a slot. Seed 255 says that the group's keys are one level further.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roost/compact/image_head.h"
#include "roost/compact/image_memory.h"
#include "roost/hash/hash64.h"

namespace roost::compact {

inline constexpr size_t kLevelsMax = 8;
inline constexpr uint8_t kSeedFurther = 255;
// 2^64 by the golden ratio.
inline constexpr uint64_t kFingerprintFactor = 0x9E3779B97F4A7C15U;
inline constexpr size_t kSlotsMax = 60;  // of a line: values of 4 bits

struct LineShape {
  uint32_t value_bits = 0;        // 4 to 32
  uint32_t fingerprint_bits = 0;  // 0, 8, 12 or 16

  [[nodiscard]] constexpr uint32_t slot_bits() const { return value_bits + fingerprint_bits; }
  // An even number, so that groups have two slots each.
  [[nodiscard]] constexpr uint32_t slots() const { return 480 / (slot_bits() + 4) / 2 * 2; }
  [[nodiscard]] constexpr uint32_t groups() const { return slots() / 2; }
  [[nodiscard]] constexpr size_t slots_at() const { return kSeedsAt + groups(); }
  // The value that nothing has: of empty slots.
  [[nodiscard]] constexpr uint32_t absent() const { return UINT32_MAX >> (32 - value_bits); }

  static constexpr size_t kSeedsAt = sizeof(uint32_t);

  bool operator==(const LineShape&) const = default;
};

struct LineLevel {
  uint64_t hash_seed = 0;
  uint64_t line_count = 0;
  uint64_t offset = 0;  // from the image's begin
};

struct LineMapHead {
  ImageHead image{};
  LineShape shape{};
  uint32_t key_bytes = 0;  // padded to words
  uint32_t level_count = 0;
  std::array<LineLevel, kLevelsMax> levels{};
  uint64_t keys_offset = 0;  // 0: keys are not kept
};
static_assert(sizeof(LineMapHead) == 248);
// Lines begin at multiples of 64 bytes.
inline constexpr size_t kLineMapHeadBytes = 256;

// Where in an image that keeps keys that of a slot stands. `line_offset`: its line's.
[[nodiscard]] constexpr uint64_t kept_key_offset(const LineMapHead& head, uint64_t line_offset,
                                                 uint32_t slot, uint32_t slots) {
  const uint64_t line = (line_offset - kLineMapHeadBytes) / kLineBytes;
  return head.keys_offset + (line * slots + slot) * head.key_bytes;
}

// Where a key is in a level. The line is of the hash's upper bits, the group of its lowest 16, the
// word of 32 above those.
struct LinePlace {
  uint64_t line;
  uint64_t hash;

  static LinePlace of(Hash64 hash, uint64_t line_count) {
    return {.line = multiply_wide(hash.bits, line_count).high, .hash = hash.bits};
  }
  [[nodiscard]] constexpr uint32_t word() const { return static_cast<uint32_t>(hash >> 16); }
};

// The slot that a seed sends a word to. Words are mixed well already, so that one product is
// enough. Seeds enter by exclusive or: as factors they tell fewer words apart (docs/dead-ends.md).
[[nodiscard]] constexpr uint32_t slot_of_word(uint32_t word, uint8_t seed, uint32_t slots) {
  const uint32_t mixed = (word ^ seed * 0x9E3779B9U) * 0x846CA68BU;
  return static_cast<uint32_t>(uint64_t{mixed} * slots >> 32);
}

// What follows from a shape, computed once: it is asked for with every key.
struct LineGeometry {
  explicit LineGeometry(const LineShape& shape)
      : slots(shape.slots()),
        groups(shape.groups()),
        slot_bits(shape.slot_bits()),
        value_bits(shape.value_bits),
        fingerprint_bits(shape.fingerprint_bits),
        absent(shape.absent()),
        first_bit(8 * static_cast<uint32_t>(shape.slots_at())) {}

  [[nodiscard]] size_t bit_of(uint32_t slot) const { return first_bit + size_t{slot} * slot_bits; }
  [[nodiscard]] uint32_t group_of(const LinePlace& place) const {
    return static_cast<uint32_t>((place.hash & 0xffff) * groups >> 16);
  }
  // Keys of one slot agree in bits of their hashes; a product's upper bits follow from all others.
  [[nodiscard]] uint64_t fingerprint_of(const LinePlace& place) const {
    if (fingerprint_bits == 0) return 0;
    return place.hash * kFingerprintFactor >> (64 - fingerprint_bits);
  }

  uint32_t slots;
  uint32_t groups;
  uint32_t slot_bits;
  uint32_t value_bits;
  uint32_t fingerprint_bits;
  uint32_t absent;
  uint32_t first_bit;  // of the slots
};

// A line of an image, to be read. `Memory`: image_memory.h.
template <class Memory>
class MapLine {
 public:
  MapLine(const LineGeometry& geometry, const std::byte* bytes)
      : geometry_(geometry), bytes_(bytes) {}

  // Even, and another one after each step of the builder.
  [[nodiscard]] uint32_t version() const {
    return Memory::kIsShared ? static_cast<uint32_t>(Memory::load_aligned(bytes_)) : 0;
  }
  // Whether what was read since then belongs together.
  [[nodiscard]] bool is_still(uint32_t since) const {
    return !Memory::kIsShared || (since % 2 == 0 && version() == since);
  }
  [[nodiscard]] uint8_t seed(uint32_t group) const {
    return Memory::byte_of_line(bytes_, LineShape::kSeedsAt + group);
  }
  // Its value in the low bits, and its fingerprint above them.
  [[nodiscard]] uint64_t slot(uint32_t slot) const {
    return Memory::bits_of_line(bytes_, geometry_.bit_of(slot), geometry_.slot_bits) &
           ((uint64_t{1} << geometry_.slot_bits) - 1);
  }
  [[nodiscard]] uint32_t value(uint32_t at) const {
    return static_cast<uint32_t>(slot(at)) & geometry_.absent;
  }
  [[nodiscard]] bool is_empty(uint32_t at) const { return value(at) == geometry_.absent; }

 private:
  const LineGeometry& geometry_;
  const std::byte* bytes_;
};

}  // namespace roost::compact
