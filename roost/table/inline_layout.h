// The inline layout: an array of bucket lines with the keys and values inside (inline_line.h).
//
//   | line 0 | line 1 | ... | line n-1 | homes |
//
// The homes are those of the stash' slots, as in the split layout. 104-bit keys with
// 16-byte values make 32 bytes a slot, with 4-byte values 21.3, timers included.
//
// A hit in the primary bucket touches one line and so does a miss, unless the filter errs.
//
// A candidate is an equal key, so it is not compared again, and no tag is stored: that of a
// resident is its key's hash, asked for when an entry is moved or leaves its secondary bucket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/hash/hash64.h"
#include "roost/isa/kernel.h"
#include "roost/table/access.h"
#include "roost/table/bucket_lines.h"
#include "roost/table/entry.h"
#include "roost/table/inline_line.h"
#include "roost/table/key_source.h"
#include "roost/table/layout.h"
#include "roost/table/slot_mask.h"
#include "roost/table/words.h"

namespace roost {

// The shape of an entry in a line: the key without padding. A table's functions take padded
// keys.
template <size_t kKeySize, size_t kValueSize>
struct FixedInlineEntry {
  static constexpr size_t kKeyBytes = padded_key_bytes(kKeySize);
  [[nodiscard]] static constexpr size_t key_bytes() { return kKeySize; }
  [[nodiscard]] static constexpr size_t value_bytes() { return kValueSize; }
};

// The same for sizes that only the configuration knows, one compiled table a padded size.
template <size_t kPaddedBytes>
class SizedInlineEntry {
 public:
  static constexpr size_t kKeyBytes = kPaddedBytes;

  // There must be inline_slots() for these sizes, and the padded key have this one.
  constexpr SizedInlineEntry(size_t key_bytes, size_t value_bytes)
      : key_bytes_(key_bytes), value_bytes_(value_bytes) {}

  [[nodiscard]] constexpr size_t key_bytes() const { return key_bytes_; }
  [[nodiscard]] constexpr size_t value_bytes() const { return value_bytes_; }

 private:
  size_t key_bytes_;
  size_t value_bytes_;
};

template <class EntryT, unsigned kSlotCount, class AccessT = Exclusive>
class InlineLayout : public BucketLines<InlineLine<kSlotCount>, AccessT> {
  using Lines = BucketLines<InlineLine<kSlotCount>, AccessT>;

 public:
  using Entry = EntryT;
  using Access = AccessT;
  using Line = InlineLine<kSlotCount>;
  static constexpr size_t kKeyBytes = Entry::kKeyBytes;
  static constexpr unsigned kSlots = kSlotCount;
  static constexpr double kPromisedLoad = Line::kPromisedLoad;
  static constexpr int kTagBits = 16;
  static constexpr bool kCandidatesAreExact = true;
  static constexpr bool kCandidatesAreBusy = false;
  static constexpr const char* kName = "inline";

  [[nodiscard]] static constexpr unsigned key_bits(Entry entry) {
    return static_cast<unsigned>(8 * entry.key_bytes());
  }
  [[nodiscard]] static constexpr uint64_t image_bytes(BucketCounts counts, Entry /*entry*/) {
    return counts.all() * sizeof(Line) + counts.stash * kSlots * sizeof(uint64_t);
  }

  // `image` is aligned to 64 bytes, its lines are zeroed, and it holds image_bytes().
  InlineLayout(std::byte* image, BucketCounts counts, Entry entry)
      : Lines(image, counts), entry_(entry) {}

  [[nodiscard]] Entry entry() const { return entry_; }
  [[nodiscard]] static Tag tag_of(Hash64 hash) { return roost::tag_of(hash); }

  [[nodiscard]] const std::byte* key(SlotRef at) const {
    return start_of(at.bucket) + key_offset(at.slot);
  }
  [[nodiscard]] std::byte* value(SlotRef at) { return start_of(at.bucket) + value_offset(at.slot); }
  [[nodiscard]] const std::byte* value(SlotRef at) const {
    return start_of(at.bucket) + value_offset(at.slot);
  }
  [[nodiscard]] PaddedKey<kKeyBytes> padded_key(const Line& line, SlotRef at) const {
    PaddedKey<kKeyBytes> padded;
    std::memcpy(&padded.words, reinterpret_cast<const std::byte*>(&line) + key_offset(at.slot),
                kKeyBytes);
    padded.words.back() &= ~uint64_t{0} >> (8 * (kKeyBytes - entry_.key_bytes()));
    return padded;
  }

  // Slots whose key is this one.
  template <Kernel K>
  [[nodiscard]] SlotMask candidates(const Line& line, Tag /*tag*/, const std::byte* key,
                                    Residence /*residence*/) const {
    const auto* start = reinterpret_cast<const std::byte*>(&line);
    return SlotMask{
        K::template match_keys<kSlots, kKeyBytes>(start + key_offset(0), entry_.key_bytes(), key)};
  }
  template <Kernel K>
  [[nodiscard]] SlotMask live_candidates(const Line& line, Tag tag, const std::byte* key,
                                         Residence residence, Tick now) const {
    return candidates<K>(line, tag, key, residence) & live_timers<K>(line, now);
  }
  // The timers are among the eight 16-bit words at the line's end.
  template <Kernel K>
  [[nodiscard]] SlotMask live_timers(const Line& line, Tick now) const {
    constexpr size_t kLastEight = sizeof(Line) - 16;
    constexpr size_t kFirst = (offsetof(Line, timers) - kLastEight) / sizeof(uint16_t);
    const auto* eight = reinterpret_cast<const std::byte*>(&line) + kLastEight;
    const unsigned live =
        K::match_live(reinterpret_cast<const uint16_t*>(eight), static_cast<uint16_t>(now.count));
    return SlotMask{live >> kFirst};
  }

  template <class Hash>
  [[nodiscard]] Tag tag(const Line& line, SlotRef at, const Hash& hash) const {
    return roost::tag_of(hash.template hash<kKeyBytes>(padded_key(line, at)));
  }
  template <class Hash, class PrimaryOf>
  [[nodiscard]] Origin origin(const Line& line, SlotRef at, const Hash& hash, const BucketMap& map,
                              PrimaryOf&& /*primary_of*/) const {
    const Hash64 hashed = hash.template hash<kKeyBytes>(padded_key(line, at));
    return {map.primary(hashed), roost::tag_of(hashed)};
  }

  // A candidate is the key already; what is left to do is its value.
  [[nodiscard]] const std::byte* target(const Line& line, unsigned slot) const {
    return reinterpret_cast<const std::byte*>(&line) + value_offset(slot);
  }
  [[nodiscard]] static const std::byte* value_of_target(const std::byte* target) { return target; }

  // The slot whose value stands at `value`.
  [[nodiscard]] SlotRef slot_of_value(const std::byte* value) const {
    const auto offset = static_cast<uint64_t>(value - start_of(BucketIndex{0}));
    const size_t in_line = offset % sizeof(Line);
    const size_t stride = entry_.value_bytes() != 0 ? entry_.value_bytes() : entry_.key_bytes();
    // Of two slots or three: a comparison each, where a division would wait for itself.
    unsigned slot = 0;
    for (unsigned i = 1; i < kSlots; ++i) slot += in_line >= i * stride ? 1 : 0;
    return {BucketIndex{offset / sizeof(Line)}, slot};
  }

  void copy_value(std::byte* to, const std::byte* from) const {
    if (entry_.value_bytes() != 0) std::memcpy(to, from, entry_.value_bytes());
  }

  void place(SlotRef at, EntryMark mark, const std::byte* key_bytes, const std::byte* value_bytes) {
    this->change(at.bucket, [&](Line& line) {
      auto* start = reinterpret_cast<std::byte*>(&line);
      std::memcpy(start + key_offset(at.slot), key_bytes, entry_.key_bytes());
      copy_value(start + value_offset(at.slot), value_bytes);
      mark_filled(line, at.slot, mark.is_displaced);
    });
  }
  void place_copy(SlotRef at, EntryMark mark, SlotRef from) {
    place(at, mark, key(from), value(from));
  }
  void vacate(SlotRef at) {
    this->change(at.bucket, [at](Line& line) { mark_free(line, at.slot); });
  }
  void write_value(SlotRef at, const std::byte* bytes) {
    this->change(at.bucket, [&](Line& line) {
      copy_value(reinterpret_cast<std::byte*>(&line) + value_offset(at.slot), bytes);
    });
  }

  // --- What readers do while the table may change: what they get is whole if nothing has. ---

  // Slots whose entry may be the key's.
  [[nodiscard]] static SlotMask read_candidates(const Line& /*line*/, Tag /*tag*/,
                                                Residence /*residence*/) {
    return SlotMask::below(kSlots);
  }
  // Whether the entry in a slot is that of the key; then its value is copied.
  using ValueCopy = std::array<uint64_t, sizeof(Line) / sizeof(uint64_t)>;
  [[nodiscard, gnu::always_inline]] bool read_value(SlotRef at, const std::byte* key, Tag /*tag*/,
                                                    Residence /*residence*/,
                                                    ValueCopy& copy) const {
    const Line& line = this->line_at(at.bucket);
    const size_t key_at = key_offset(at.slot);
    uint64_t difference = 0;
    for_each_word(entry_.key_bytes(), [&](size_t offset, size_t bytes) {
      difference |= word_from(key + offset) ^ Access::bytes(line, key_at + offset, bytes);
    });
    if (difference != 0) return false;
    const size_t value_at = value_offset(at.slot);
    const bool is_aligned = entry_.value_bytes() % sizeof(uint64_t) == 0;
    for_each_word(entry_.value_bytes(), [&](size_t offset, size_t bytes) {
      copy[offset / sizeof(uint64_t)] = is_aligned ? Access::word(line, (value_at + offset) / 8)
                                                   : Access::bytes(line, value_at + offset, bytes);
    });
    return true;
  }
  // The primary bucket of the entry in a slot of the stash.
  [[nodiscard]] BucketIndex home(SlotRef at) const {
    uint64_t bucket = 0;
    std::memcpy(&bucket, start_of(BucketIndex{0}) + home_offset(at), sizeof(bucket));
    return BucketIndex{bucket};
  }
  void set_home(SlotRef at, BucketIndex primary) {
    const auto bucket = static_cast<uint64_t>(primary);
    std::memcpy(start_of(BucketIndex{0}) + home_offset(at), &bucket, sizeof(bucket));
  }

 private:
  // From a line's start: keys are read beyond their own bytes, but not beyond the line's.
  [[nodiscard]] size_t key_offset(unsigned slot) const {
    return kSlots * entry_.value_bytes() + slot * entry_.key_bytes();
  }
  // A set's value, of which there is nothing, stands for its slot at the place of the key.
  [[nodiscard]] size_t value_offset(unsigned slot) const {
    return entry_.value_bytes() != 0 ? slot * entry_.value_bytes() : key_offset(slot);
  }
  [[nodiscard]] uint64_t home_offset(SlotRef at) const {
    const BucketCounts counts = this->bucket_counts();
    const uint64_t stash = static_cast<uint64_t>(at.bucket) - counts.hashed;
    return counts.all() * sizeof(Line) + (stash * kSlots + at.slot) * sizeof(uint64_t);
  }
  [[nodiscard]] std::byte* start_of(BucketIndex bucket) {
    return reinterpret_cast<std::byte*>(&this->edit(bucket));
  }
  [[nodiscard]] const std::byte* start_of(BucketIndex bucket) const {
    return reinterpret_cast<const std::byte*>(&this->line_at(bucket));
  }

  [[no_unique_address]] Entry entry_;
};

static_assert(TimedLayout<InlineLayout<FixedInlineEntry<13, 16>, 2>> &&
              TimedLayout<InlineLayout<FixedInlineEntry<13, 4>, 3>>);

}  // namespace roost
