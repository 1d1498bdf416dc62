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

// Borrows the image, which must outlive it. Of a StillImage nothing may change meanwhile; of a
// SharedImage its builder may change what it likes. Any number of readers; nothing is allocated by
// lookups.
template <class Key, class Memory = StillImage>
class LineMapReader {
 public:
  using KeyType = Key;
  using Line = MapLine<Memory>;

  // Errors: see open_line_map(). The builder must not be in the middle of a change.
  static Result<LineMapReader> open(std::span<const std::byte> image) {
    const auto head = open_line_map(image, PaddedKey<Key>::kBytes);
    if (!head) return head.error();
    return LineMapReader(head.value(), image);
  }

  // As ParrotReader::lookup_unverified(). One cache line a key, and of the few whose group went
  // further one more a level. An answer was true at some moment of the call.
  // With keys that are kept another one, and bits are certain.
  size_t lookup_unverified(std::span<const Key> keys, std::span<uint32_t> values,
                           HitWords maybe) const {
    return look_up_in_groups(
        keys, values, maybe, [this](const Key& key) { return start(key); },
        [this](const Key& key, const LinePlace& place, uint32_t& value) {
          return finish(key, place, value);
        },
        [this](const Key& key) { prepare_alone(key); },
        [this](const Key& key) { return look_up_alone(key); });
  }

  // The same where bits are certain: the image keeps keys.
  size_t lookup(std::span<const Key> keys, std::span<uint32_t> values, HitWords hits) const {
    ROOST_ASSERT(head_.keys_offset != 0);
    return lookup_unverified(keys, values, hits);
  }

  [[nodiscard]] const LineMapHead& head() const { return head_; }
  [[nodiscard]] const LineGeometry& geometry() const { return geometry_; }
  [[nodiscard]] LinePlace place_of(const Key& key, size_t level) const {
    return LinePlace::of(PaddedKey<Key>(key).hashed(levels_[level].hash), levels_[level].line_count,
                         geometry_.groups);
  }
  [[nodiscard]] Line line(size_t level, uint64_t index) const {
    return {geometry_, levels_[level].lines + index * kLineBytes};
  }
  [[nodiscard]] uint64_t fingerprint_of(const Key& key) const {
    if (head_.shape.fingerprint_bits == 0) return 0;
    return PaddedKey<Key>(key).hashed(fingerprints_).bits >> (64 - head_.shape.fingerprint_bits);
  }

 private:
  struct Level {
    KeyedHash hash{0};
    const std::byte* lines = nullptr;
    uint64_t line_count = 0;
  };

  LineMapReader(const LineMapHead& head, std::span<const std::byte> image)
      : head_(head),
        geometry_(head.shape),
        fingerprints_(head.fingerprint_seed),
        image_(image.data()) {
    for (size_t level = 0; level < head.level_count; ++level) {
      levels_[level] = {KeyedHash(head.levels[level].hash_seed),
                        image.data() + head.levels[level].offset, head.levels[level].line_count};
    }
  }

  void ask_for(size_t level, const LinePlace& place) const {
    __builtin_prefetch(levels_[level].lines + place.line * kLineBytes);
  }
  [[nodiscard]] LinePlace start(const Key& key) const {
    const LinePlace place = place_of(key, 0);
    ask_for(0, place);
    return place;
  }

  // What a slot has for a key.
  [[nodiscard]] bool is_of(uint64_t word, const Key& key) const {
    const bool is_value = (static_cast<uint32_t>(word) & geometry_.absent) != geometry_.absent;
    return is_value & (word >> geometry_.value_bits == fingerprint_of(key));
  }

  [[nodiscard]] const std::byte* kept_key(const std::byte* line, uint32_t slot) const {
    return image_ +
           kept_key_offset(head_, static_cast<uint64_t>(line - image_), slot, geometry_.slots);
  }
  // Whether the slot is this key's, as far as keys are kept.
  [[nodiscard]] bool is_kept(const std::byte* line, uint32_t slot, const Key& key) const {
    if (head_.keys_offset == 0) return true;
    const PaddedKey<Key> padded(key);
    const std::byte* const kept = kept_key(line, slot);
    uint64_t differs = 0;
    for (size_t word = 0; word < padded.words.size(); ++word)
      differs |= Memory::load_aligned(kept + word * sizeof(uint64_t)) ^ padded.words[word];
    return differs == 0;
  }

  // In the first level, without branches: one group in thirty went further.
  [[nodiscard]] LaneAnswer finish(const Key& key, const LinePlace& place, uint32_t& value) const {
    const Line at = line(0, place.line);
    const uint32_t since = at.version();
    const uint8_t seed = at.seed(place.group);
    const uint32_t slot = slot_of_word(place.word, seed, geometry_.slots);
    const uint64_t word = at.slot(slot);
    if (head_.keys_offset != 0) {  // another line, that is on its way meanwhile
      __builtin_prefetch(kept_key(levels_[0].lines + place.line * kLineBytes, slot));
      return LaneAnswer::kAlone;
    }
    const auto is_alone = uint32_t{seed == kSeedFurther} | uint32_t{!at.is_still(since)};
    const auto is_there = uint32_t{is_of(word, key)} & ~is_alone;
    const uint32_t is_value = 0 - is_there;
    value = (static_cast<uint32_t>(word) & geometry_.absent & is_value) | (value & ~is_value);
    return static_cast<LaneAnswer>(is_there | is_alone << 1);
  }
  void prepare_alone(const Key& key) const {
    if (head_.level_count > 1 && head_.keys_offset == 0) ask_for(1, place_of(key, 1));
  }

  // Through all levels, until nothing has changed meanwhile in any line that was read: a group that
  // goes further or comes back changes the line that says so.
  [[nodiscard]] std::optional<uint32_t> look_up_alone(const Key& key) const {
    struct Read {
      const std::byte* line;
      uint32_t since;
    };
    for (unsigned attempt = 0;; ++attempt) {
      if (attempt != 0) Memory::wait(attempt);
      std::array<Read, kLevelsMax> reads;
      size_t count = 0;
      std::optional<uint32_t> answer;
      while (count < head_.level_count) {
        const LinePlace place = place_of(key, count);
        const Line at = line(count, place.line);
        reads[count] = {levels_[count].lines + place.line * kLineBytes, at.version()};
        ++count;
        const uint8_t seed = at.seed(place.group);
        if (seed == kSeedFurther) continue;
        const uint32_t slot = slot_of_word(place.word, seed, geometry_.slots);
        const uint64_t word = at.slot(slot);
        if (is_of(word, key) && is_kept(reads[count - 1].line, slot, key))
          answer = static_cast<uint32_t>(word) & geometry_.absent;
        break;
      }
      const bool is_whole = std::all_of(
          reads.begin(), reads.begin() + count,
          [&](const Read& read) { return Line(geometry_, read.line).is_still(read.since); });
      if (is_whole) return answer;
    }
  }

  LineMapHead head_;
  LineGeometry geometry_;
  KeyedHash fingerprints_;
  const std::byte* image_;
  std::array<Level, kLevelsMax> levels_;
};

}  // namespace roost::compact
