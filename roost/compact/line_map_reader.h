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
#include "roost/isa/prefetch.h"

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
    const bool compares = head_.keys_offset != 0 || head_.shape.fingerprint_bits != 0;
    return compares ? look_up_in_groups(keys, values, maybe, Lanes<true>(*this))
                    : look_up_in_groups(keys, values, maybe, Lanes<false>(*this));
  }

  // The same where bits are certain: the image keeps keys.
  size_t lookup(std::span<const Key> keys, std::span<uint32_t> values, HitWords hits) const {
    ROOST_ASSERT(head_.keys_offset != 0);
    return lookup_unverified(keys, values, hits);
  }

  [[nodiscard]] const LineMapHead& head() const { return head_; }
  [[nodiscard]] const LineGeometry& geometry() const { return geometry_; }
  [[nodiscard]] LinePlace place_of(const Key& key, size_t level) const {
    return LinePlace::of(PaddedKey<Key>(key).hashed(levels_[level].hash),
                         levels_[level].line_count);
  }
  [[nodiscard]] Line line(size_t level, uint64_t index) const {
    return {geometry_, levels_[level].lines + index * kLineBytes};
  }

 private:
  struct Level {
    KeyedHash hash{0};
    const std::byte* lines = nullptr;
    uint64_t line_count = 0;
  };

  LineMapReader(const LineMapHead& head, std::span<const std::byte> image)
      : head_(head), geometry_(head.shape), image_(image.data()) {
    for (size_t level = 0; level < head.level_count; ++level) {
      levels_[level] = {KeyedHash(head.levels[level].hash_seed),
                        image.data() + head.levels[level].offset, head.levels[level].line_count};
    }
  }

  // Whether a slot may be the key's of that place.
  [[nodiscard]] bool is_of(uint64_t word, const LinePlace& place) const {
    const bool is_value = (static_cast<uint32_t>(word) & geometry_.absent) != geometry_.absent;
    return is_value & (word >> geometry_.value_bits == geometry_.fingerprint_of(place));
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

  // See look_up_in_groups(). `kCompares`: an image with fingerprints or keys.
  template <bool kCompares>
  class Lanes {
   public:
    explicit Lanes(const LineMapReader& reader)
        : reader_(reader), first_(reader.levels_[0]), geometry_(reader.geometry_) {}

    [[gnu::always_inline]] LinePlace start(const Key& key) const {
      const LinePlace place =
          LinePlace::of(PaddedKey<Key>(key).hashed(first_.hash), first_.line_count);
      prefetch(PrefetchHint::kT0, first_.lines + place.line * kLineBytes);
      return place;
    }

    // In the first level, without branches: one group in thirty went further.
    [[gnu::always_inline]] LaneAnswer finish(const Key& /*key*/, const LinePlace& place,
                                             uint32_t& value) const {
      const Line at(geometry_, first_.lines + place.line * kLineBytes);
      const uint32_t since = at.version();
      const uint8_t seed = at.seed(geometry_.group_of(place));
      const uint64_t word = at.slot(slot_of_word(place.word(), seed, geometry_.slots));
      uint64_t is_alone = seed == kSeedFurther;
      if constexpr (Memory::kIsShared) is_alone |= uint64_t{!at.is_still(since)};
      const uint64_t in_slot = word & geometry_.absent;
      uint64_t is_there = uint64_t{in_slot != geometry_.absent} & ~is_alone;
      if constexpr (kCompares) {
        if (reader_.head_.keys_offset != 0) return LaneAnswer::kAlone;
        is_there &= uint64_t{word >> geometry_.value_bits == geometry_.fingerprint_of(place)};
      }
      value = is_there != 0 ? static_cast<uint32_t>(in_slot) : value;
      return static_cast<LaneAnswer>(is_there | is_alone << 1);
    }

    // The line of the second level, or the key that the slot has.
    [[gnu::always_inline]] void prepare_alone(const Key& key, const LinePlace& place) const {
      if (kCompares && reader_.head_.keys_offset != 0) {
        const Line at = reader_.line(0, place.line);
        const uint32_t slot =
            slot_of_word(place.word(), at.seed(geometry_.group_of(place)), geometry_.slots);
        prefetch(PrefetchHint::kT0, reader_.kept_key(first_.lines + place.line * kLineBytes, slot));
      } else if (reader_.head_.level_count > 1) {
        prefetch(PrefetchHint::kT0,
                 reader_.levels_[1].lines + reader_.place_of(key, 1).line * kLineBytes);
      }
    }
    [[gnu::always_inline]] std::optional<uint32_t> look_up_alone(const Key& key,
                                                                 const LinePlace& place) const {
      return reader_.look_up_alone(key, place);
    }

   private:
    const LineMapReader& reader_;
    Level first_;
    LineGeometry geometry_;
  };

  // Through all levels, until nothing has changed meanwhile in any line that was read: a group that
  // goes further or comes back changes the line that says so.
  [[nodiscard]] std::optional<uint32_t> look_up_alone(const Key& key,
                                                      const LinePlace& first) const {
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
        const LinePlace place = count == 0 ? first : place_of(key, count);
        const Line at = line(count, place.line);
        reads[count] = {levels_[count].lines + place.line * kLineBytes, at.version()};
        ++count;
        const uint8_t seed = at.seed(geometry_.group_of(place));
        if (seed == kSeedFurther) continue;
        const uint32_t slot = slot_of_word(place.word(), seed, geometry_.slots);
        const uint64_t word = at.slot(slot);
        if (is_of(word, place) && is_kept(reads[count - 1].line, slot, key))
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
  const std::byte* image_;
  std::array<Level, kLevelsMax> levels_;
};

}  // namespace roost::compact
