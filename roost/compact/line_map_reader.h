// Reads a line map's image: batches of keys, without keys to compare them with.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/line_layout.h"
#include "roost/compact/lookup_groups.h"
#include "roost/hash/keyed_hash.h"

namespace roost::compact {

// The head of an image whose parts lie where they can. Errors: it is foreign, cut, changed, or for
// keys of another size.
[[nodiscard]] Result<LineMapHead> open_line_map(std::span<const std::byte> image, size_t key_bytes);

// Bytes of a key, with zeroes behind it up to whole words.
template <class Key>
struct PaddedKey {
  static_assert(std::has_unique_object_representations_v<Key>,
                "a key's padding bytes would be hashed");
  static constexpr size_t kBytes = (sizeof(Key) + 7) / 8 * 8;
  static_assert(kBytes <= 64, "a key has at most 64 bytes");

  explicit PaddedKey(const Key& key) { std::memcpy(words.data(), &key, sizeof key); }
  [[nodiscard]] Hash64 hashed(const KeyedHash& hash) const {
    return hash.hash<kBytes>(words.data());
  }

  std::array<uint64_t, kBytes / 8> words{};
};

// Borrows the image, which must not change while it reads, and outlive it. Any number of readers;
// nothing is allocated by lookups.
template <class Key>
class LineMapReader {
 public:
  // Errors: see open_line_map().
  static Result<LineMapReader> open(std::span<const std::byte> image) {
    const auto head = open_line_map(image, PaddedKey<Key>::kBytes);
    if (!head) return head.error();
    return LineMapReader(head.value(), image);
  }

  // As ParrotReader::lookup_unverified(). One cache line a key, and of the few whose group went
  // further one more a level.
  size_t lookup_unverified(std::span<const Key> keys, std::span<uint32_t> values,
                           HitWords maybe) const {
    return look_up_in_groups(keys, values, maybe,
                             [this](std::span<const Key> group, std::span<uint32_t> into) {
                               return look_up(group, into);
                             });
  }

  [[nodiscard]] const LineMapHead& head() const { return head_; }
  [[nodiscard]] LinePlace place_of(const Key& key, size_t level) const {
    return LinePlace::of(PaddedKey<Key>(key).hashed(levels_[level].hash),
                         head_.levels[level].line_count, head_.shape.groups());
  }
  [[nodiscard]] MapLine line(size_t level, uint64_t index) const {
    return {head_.shape, levels_[level].lines + index * kLineBytes};
  }
  [[nodiscard]] uint64_t fingerprint_of(const Key& key) const {
    if (head_.shape.fingerprint_bits == 0) return 0;
    return PaddedKey<Key>(key).hashed(fingerprints_).bits >> (64 - head_.shape.fingerprint_bits);
  }

 private:
  struct Level {
    KeyedHash hash{0};
    const std::byte* lines = nullptr;
  };

  LineMapReader(const LineMapHead& head, std::span<const std::byte> image)
      : head_(head), fingerprints_(head.fingerprint_seed) {
    for (size_t level = 0; level < head.level_count; ++level) {
      levels_[level] = {KeyedHash(head.levels[level].hash_seed),
                        image.data() + head.levels[level].offset};
    }
  }

  uint32_t look_up(std::span<const Key> keys, std::span<uint32_t> values) const {
    std::array<LinePlace, kGroupLanes> places;
    uint32_t found = 0;
    auto lanes = static_cast<uint32_t>((uint64_t{1} << keys.size()) - 1);
    for (size_t level = 0; lanes != 0 && level < head_.level_count; ++level) {
      for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        places[lane] = place_of(keys[lane], level);
        __builtin_prefetch(levels_[level].lines + places[lane].line * kLineBytes);
      }
      uint32_t further = 0;
      for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        const MapLine at = line(level, places[lane].line);
        const uint8_t seed = at.seed(places[lane].group);
        const uint64_t word = at.slot(slot_of_word(places[lane].word, seed, head_.shape.slots()));
        const bool goes_on = seed == kSeedFurther;
        const auto value = static_cast<uint32_t>(word) & head_.shape.absent();
        const bool is_there = !goes_on && value != head_.shape.absent() &&
                              word >> head_.shape.value_bits == fingerprint_of(keys[lane]);
        if (is_there) values[lane] = value;
        found |= uint32_t{is_there} << lane;
        further |= uint32_t{goes_on} << lane;
      }
      lanes = further;
    }
    return found;
  }

  LineMapHead head_;
  KeyedHash fingerprints_;
  std::array<Level, kLevelsMax> levels_;
};

}  // namespace roost::compact
