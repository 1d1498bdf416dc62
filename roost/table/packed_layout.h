// The packed layout: an array of bucket lines of eight words (packed_line.h), for keys of up to 60
// bits with values of up to two bytes: a MAC address and a port take eight bytes.
//
//   | line 0 | line 1 | ... | line n-1 | homes |
//
// The homes are those of the stash' slots, as in the split layout.
//
// Idea: the hash is a permutation of the key (KeyedPermutation), so the key need not be stored
// where the hash can be read off. Its primary bucket says where the hash lies among all hashes, in
// an interval of at most 2^46; the remainder, its lowest 46 bits, says where in that interval. The
// other bucket follows from the remainder, as it does from other layouts' tags. So an entry's
// place, its displaced bit and its remainder give the key back, and equal ones are equal keys
//
//
// Limits: as 2^46 remainders must cover a bucket's interval, keys of 48 bits need four buckets, of
// 60 bits 16,384.
//
// A hit in the primary bucket touches one line; one in the secondary bucket, and a miss, two.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/hash/bucket_map.h"
#include "roost/hash/hash64.h"
#include "roost/hash/keyed_permutation.h"
#include "roost/isa/kernel.h"
#include "roost/table/access.h"
#include "roost/table/bucket_lines.h"
#include "roost/table/key_source.h"
#include "roost/table/layout.h"
#include "roost/table/packed_line.h"
#include "roost/table/slot_mask.h"

namespace roost {

inline constexpr unsigned kPackedKeyBitsMax = KeyedPermutation::kBitsMax;
inline constexpr size_t kPackedValueBytesMax = 2;
inline constexpr double kPackedPromisedLoad = 0.95;

// Whether keys and values can be packed.
[[nodiscard]] constexpr bool packed_fits(unsigned key_bits, size_t value_bytes) {
  return key_bits >= KeyedPermutation::kBitsMin && key_bits <= kPackedKeyBitsMax &&
         value_bytes <= kPackedValueBytesMax;
}

// Buckets that a table with keys of so many bits must have.
[[nodiscard]] constexpr uint64_t packed_buckets_min(unsigned key_bits) {
  return key_bits <= kRemainderBits + 1 ? 2 : uint64_t{1} << (key_bits - kRemainderBits);
}

// The shape of an entry: bits of a key, the lowest of a word, and bytes of a value. Keys may come
// with more bits than that; those are in no table.
template <unsigned kKeyBitCount, size_t kValueSize, bool kMayBeWiderThan = false>
struct FixedPackedEntry {
  static constexpr bool kMayBeWider = kMayBeWiderThan;
  static_assert(packed_fits(kKeyBitCount, kValueSize));
  [[nodiscard]] static constexpr unsigned key_bits() { return kKeyBitCount; }
  [[nodiscard]] static constexpr size_t value_bytes() { return kValueSize; }
};

// The same, known to the configuration only.
class SizedPackedEntry {
 public:
  static constexpr bool kMayBeWider = true;

  // As packed_fits() has them.
  constexpr SizedPackedEntry(unsigned key_bits, size_t value_bytes)
      : key_bits_(key_bits), value_bytes_(value_bytes) {}

  [[nodiscard]] constexpr unsigned key_bits() const { return key_bits_; }
  [[nodiscard]] constexpr size_t value_bytes() const { return value_bytes_; }

 private:
  unsigned key_bits_;
  size_t value_bytes_;
};

template <class EntryT, class AccessT = Exclusive>
class PackedLayout : public BucketLines<PackedLine, AccessT> {
  using Lines = BucketLines<PackedLine, AccessT>;

 public:
  using Entry = EntryT;
  using Access = AccessT;
  using Line = PackedLine;
  static constexpr size_t kKeyBytes = 8;
  static constexpr unsigned kSlots = Line::kSlots;
  static constexpr double kPromisedLoad = kPackedPromisedLoad;
  static constexpr int kTagBits = kRemainderBits;
  static constexpr bool kCandidatesAreExact = true;
  static constexpr bool kCandidatesAreBusy = true;
  static constexpr const char* kName = "packed";

  [[nodiscard]] static constexpr unsigned key_bits(Entry entry) { return entry.key_bits(); }
  [[nodiscard]] static constexpr uint64_t buckets_min(Entry entry) {
    return packed_buckets_min(entry.key_bits());
  }
  [[nodiscard]] static constexpr uint64_t image_bytes(BucketCounts counts, Entry /*entry*/) {
    return counts.all() * sizeof(Line) + counts.stash * kSlots * sizeof(uint64_t);
  }

  // `image` is aligned to 64 bytes, its lines are zeroed, and it holds image_bytes().
  PackedLayout(std::byte* image, BucketCounts counts, Entry entry)
      : Lines(image, counts), entry_(entry) {}

  [[nodiscard]] Entry entry() const { return entry_; }
  // Whether a padded key has no bits but those of this table's keys.
  [[nodiscard]] bool fits(const std::byte* key) const {
    if constexpr (!Entry::kMayBeWider) return true;
    uint64_t word = 0;
    std::memcpy(&word, key, sizeof(word));
    return word >> entry_.key_bits() == 0;
  }

  // The remainder: the lowest bits of the hash, which is as long as a key.
  [[nodiscard]] Tag tag_of(Hash64 hash) const {
    return Tag{hash.bits >> (64 - entry_.key_bits()) & kRemainderMask};
  }

  // Slots whose word is that of this key here. What it says may also be true of another key in the
  // stash, where an entry's home counts too.
  template <Kernel K>
  [[nodiscard]] SlotMask candidates(const Line& line, Tag tag, const std::byte* /*key*/,
                                    Residence residence) const {
    return SlotMask{
        K::match_words(line.words.data(), Line::word_of(tag, residence == Residence::kDisplaced))};
  }

  // --- What readers do while the table may change. ---

  // A hit is one word: it is whole, and says itself whose it is. `target` is in the word.
  [[nodiscard]] static uint64_t word_at(const std::byte* target) {
    return Access::load(*reinterpret_cast<const uint64_t*>(target - kValueOffset));
  }
  // Where the value is in a copy of it.
  [[nodiscard]] static const std::byte* value_in(const uint64_t& word) {
    return reinterpret_cast<const std::byte*>(&word) + kValueOffset;
  }
  // What readers may do to a word that they read: gives these bits of its value, if it is still
  // there.
  static void set_value_bits(const std::byte* target, uint64_t seen, uint16_t mask,
                             uint16_t value) {
    const uint64_t bits = uint64_t{mask} << Line::kValueShift;
    const uint64_t word = (seen & ~bits) | (uint64_t{value} << Line::kValueShift & bits);
    if (word == seen) return;
    static_cast<void>(
        Access::replace(*reinterpret_cast<const uint64_t*>(target - kValueOffset), seen, word));
  }
  // Whether a word is that of a key in one of its buckets.
  [[nodiscard]] static bool is_of(uint64_t word, Tag tag, Residence residence) {
    return ((word ^ Line::word_of(tag, residence == Residence::kDisplaced)) & kKeyAndMarks) == 0;
  }

  // Slots whose word is that of this key here, one by one.
  [[nodiscard]] static SlotMask read_candidates(const Line& line, Tag tag, Residence residence) {
    uint32_t slots = 0;
    for (unsigned slot = 0; slot < kSlots; ++slot)
      slots |= static_cast<uint32_t>(is_of(Access::load(line.words[slot]), tag, residence)) << slot;
    return SlotMask{slots};
  }
  // Whether the word in a slot is that of this key here; a copy of it.
  using ValueCopy = uint64_t;
  [[nodiscard]] bool read_value(SlotRef at, const std::byte* /*key*/, Tag tag, Residence residence,
                                ValueCopy& copy) const {
    copy = word(at);
    return is_of(copy, tag, residence);
  }

  template <class Hash>
  [[nodiscard]] Tag tag(const Line& line, SlotRef at, const Hash& /*hash*/) const {
    return Line::remainder_of(line.words[at.slot]);
  }
  template <class Hash, class PrimaryOf>
  [[nodiscard]] Origin origin(const Line& line, SlotRef at, const Hash& hash,
                              const BucketMap& /*map*/, PrimaryOf&& primary_of) const {
    return {primary_of(tag(line, at, hash)), tag(line, at, hash)};
  }

  // The key of an entry that comes from there, padded.
  template <class Permutation>
  [[nodiscard]] PaddedKey<kKeyBytes> key_from(Origin origin, const Permutation& hash,
                                              const BucketMap& map) const {
    return {{hash.key_of(map.hash_in(origin.primary, entry_.key_bits(),
                                     static_cast<uint64_t>(origin.tag), kRemainderMask))}};
  }

  // A candidate is the key already; what is left to do is its value.
  [[nodiscard]] const std::byte* target(const Line& line, unsigned slot) const {
    return reinterpret_cast<const std::byte*>(&line.words[slot]) + kValueOffset;
  }
  [[nodiscard]] static const std::byte* value_of_target(const std::byte* target) { return target; }

  [[nodiscard]] std::byte* value(SlotRef at) {
    return reinterpret_cast<std::byte*>(&this->edit(at.bucket).words[at.slot]) + kValueOffset;
  }
  [[nodiscard]] const std::byte* value(SlotRef at) const {
    return target(this->line_at(at.bucket), at.slot);
  }
  [[nodiscard]] SlotRef slot_of_value(const std::byte* value) const {
    const auto offset = static_cast<uint64_t>(
        value - reinterpret_cast<const std::byte*>(&this->line_at(BucketIndex{0})));
    return {BucketIndex{offset / sizeof(Line)},
            static_cast<unsigned>(offset % sizeof(Line) / sizeof(uint64_t))};
  }
  void copy_value(std::byte* to, const std::byte* from) const {
    if (entry_.value_bytes() != 0) std::memcpy(to, from, entry_.value_bytes());
  }

  void place(SlotRef at, EntryMark mark, const std::byte* /*key*/, const std::byte* value_bytes) {
    fill(at, mark, bits_of(value_bytes));
  }
  void place_copy(SlotRef at, EntryMark mark, SlotRef from) {
    fill(at, mark, word(from) >> Line::kValueShift);
  }
  void vacate(SlotRef at) { store(at, 0); }
  void write_value(SlotRef at, const std::byte* bytes) {
    store(at, (word(at) & kKeyAndMarks) | bits_of(bytes) << Line::kValueShift);
  }

  // The primary bucket of the entry in a slot of the stash.
  [[nodiscard]] BucketIndex home(SlotRef at) const {
    return BucketIndex{Access::load(homes()[home_index(at)])};
  }
  void set_home(SlotRef at, BucketIndex primary) {
    Access::store(const_cast<uint64_t*>(homes())[home_index(at)], static_cast<uint64_t>(primary));
  }

 private:
  static_assert(std::endian::native == std::endian::little, "the value is a word's last bytes");
  static constexpr size_t kValueOffset = Line::kValueShift / 8;
  static constexpr uint64_t kKeyAndMarks = (uint64_t{1} << Line::kValueShift) - 1;

  [[nodiscard]] uint64_t word(SlotRef at) const {
    return Access::load(this->line_at(at.bucket).words[at.slot]);
  }

  // One store: whoever reads the word finds the whole entry, or none.
  void fill(SlotRef at, EntryMark mark, uint64_t value_bits) {
    store(at, Line::word_of(mark.tag, mark.is_displaced) | value_bits << Line::kValueShift);
  }

  void store(SlotRef at, uint64_t word) {
    Access::store(this->edit(at.bucket).words[at.slot], word);
  }

  [[nodiscard]] uint64_t bits_of(const std::byte* value_bytes) const {
    uint64_t bits = 0;
    copy_value(reinterpret_cast<std::byte*>(&bits), value_bytes);
    return bits;
  }

  [[nodiscard]] const uint64_t* homes() const {
    return reinterpret_cast<const uint64_t*>(&this->line_at(BucketIndex{0}) +
                                             this->bucket_counts().all());
  }
  [[nodiscard]] uint64_t home_index(SlotRef at) const {
    return (static_cast<uint64_t>(at.bucket) - this->bucket_counts().hashed) * kSlots + at.slot;
  }

  [[no_unique_address]] Entry entry_;
};

static_assert(TableLayout<PackedLayout<FixedPackedEntry<48, 2>>> &&
              TableLayout<PackedLayout<SizedPackedEntry>> &&
              !StoresKeys<PackedLayout<SizedPackedEntry>>);

}  // namespace roost
