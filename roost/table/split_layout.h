// The split layout: an array of bucket lines, and beside it an array of keys and values (CPP-01).
//
//   | line 0 | line 1 | ... | line n-1 | entry 0 | entry 1 | ... | entry 8n-1 | homes |
//
// The entry of slot s of bucket b is entry 8 b + s: the place is implicit, nothing is stored to
// find it (CPP-04). An entry is the key, the value behind it, and padding to 8 bytes. 16 + 16 bytes
// make 40 bytes a slot, lines and timers included.
//
// The last of the n buckets may be the stash (engine.h). Only for its slots, the homes say which
// primary bucket an entry comes from: 64 bits a slot.
//
// A hit touches the bucket's line and the entry's (two lines, where an entry straddles); a miss
// only the bucket's.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/hash/hash64.h"
#include "roost/isa/kernel.h"
#include "roost/table/access.h"
#include "roost/table/bucket_lines.h"
#include "roost/table/entry.h"
#include "roost/table/layout.h"
#include "roost/table/slot_mask.h"
#include "roost/table/tag_line.h"
#include "roost/table/words.h"

namespace roost {

// The load up to which tables of eight slots a bucket can promise to accept entries.
inline constexpr double kSplitPromisedLoad = 0.95;

// `kSlotCount` is 1, 2, 4 or 8: a line has room for eight, of which the first ones are used.
template <class EntryT, unsigned kSlotCount = kSlotsPerBucket, class AccessT = Exclusive>
class SplitLayout : public BucketLines<TagLine, AccessT> {
  using Lines = BucketLines<TagLine, AccessT>;

 public:
  using Entry = EntryT;
  using Access = AccessT;
  using Line = TagLine;
  static constexpr size_t kKeyBytes = Entry::kKeyBytes;
  static constexpr unsigned kSlots = kSlotCount;
  static constexpr double kPromisedLoad = kSlots == kSlotsPerBucket ? kSplitPromisedLoad : 0;
  static constexpr int kTagBits = 16;
  static constexpr bool kCandidatesAreExact = false;
  static constexpr bool kCandidatesAreBusy = false;
  static constexpr const char* kName = "split";
  static_assert(std::has_single_bit(kSlots) && kSlots <= kSlotsPerBucket);

  [[nodiscard]] static constexpr unsigned key_bits(Entry /*entry*/) { return 8 * kKeyBytes; }
  [[nodiscard]] static constexpr uint64_t image_bytes(BucketCounts counts, Entry entry) {
    return counts.all() * (sizeof(TagLine) + kSlots * entry.bytes()) +
           counts.stash * kSlots * sizeof(uint64_t);
  }

  // `image` is aligned to 64 bytes, its lines are zeroed, and it holds image_bytes().
  SplitLayout(std::byte* image, BucketCounts counts, Entry entry)
      : Lines(image, counts), entries_(image + counts.all() * sizeof(TagLine)), entry_(entry) {}

  [[nodiscard]] Entry entry() const { return entry_; }
  [[nodiscard]] static Tag tag_of(Hash64 hash) { return roost::tag_of(hash); }

  [[nodiscard]] std::byte* key(SlotRef at) { return entries_ + entry_offset(at); }
  [[nodiscard]] const std::byte* key(SlotRef at) const { return entries_ + entry_offset(at); }
  [[nodiscard]] const std::byte* padded_key(const Line& /*line*/, SlotRef at) const {
    return key(at);
  }
  [[nodiscard]] std::byte* value(SlotRef at) { return key(at) + kKeyBytes; }
  [[nodiscard]] const std::byte* value(SlotRef at) const { return key(at) + kKeyBytes; }

  // Slots whose entry has this tag; any of them may be the key's.
  template <Kernel K>
  [[nodiscard]] SlotMask candidates(const Line& line, Tag tag, const std::byte* /*key*/,
                                    Residence /*residence*/) const {
    return SlotMask{K::match_tags(line.tags, static_cast<uint16_t>(tag))};
  }
  template <Kernel K>
  [[nodiscard]] SlotMask live_candidates(const Line& line, Tag tag, const std::byte* /*key*/,
                                         Residence /*residence*/, Tick now) const {
    return SlotMask{K::match_live_tags(line.tags, static_cast<uint16_t>(tag), line.timers,
                                       static_cast<uint16_t>(now.count))};
  }
  template <Kernel K>
  [[nodiscard]] SlotMask live_timers(const Line& line, Tick now) const {
    return SlotMask{K::match_live(line.timers, static_cast<uint16_t>(now.count))};
  }

  template <class Hash>
  [[nodiscard]] Tag tag(const Line& line, SlotRef at, const Hash& /*hash*/) const {
    return Tag{line.tags[at.slot]};
  }
  template <class Hash, class PrimaryOf>
  [[nodiscard]] Origin origin(const Line& line, SlotRef at, const Hash& hash,
                              const BucketMap& /*map*/, PrimaryOf&& primary_of) const {
    return {primary_of(tag(line, at, hash)), tag(line, at, hash)};
  }

  // A candidate's key, to be compared; its value stands behind it.
  [[nodiscard]] const std::byte* target(const Line& line, unsigned slot) const {
    return key({this->bucket_of(line), slot});
  }
  [[nodiscard]] static const std::byte* value_of_target(const std::byte* target) {
    return target + kKeyBytes;
  }

  // The slot whose value stands at `value`.
  [[nodiscard]] SlotRef slot_of_value(const std::byte* value) const {
    const uint64_t entry = static_cast<uint64_t>(value - kKeyBytes - entries_) / entry_.bytes();
    return {BucketIndex{entry / kSlots}, static_cast<unsigned>(entry % kSlots)};
  }

  void copy_value(std::byte* to, const std::byte* from) const {
    if (entry_.value_bytes() != 0) std::memcpy(to, from, entry_.value_bytes());
  }

  void place(SlotRef at, EntryMark mark, const std::byte* key_bytes, const std::byte* value_bytes) {
    Access::write(key(at), key_bytes, kKeyBytes);
    write_value(at, value_bytes);
    fill(at, mark);
  }
  void place_copy(SlotRef at, EntryMark mark, SlotRef from) {
    Access::write(key(at), key(from), entry_.bytes());
    fill(at, mark);
  }
  void vacate(SlotRef at) {
    this->change(at.bucket, [at](Line& line) { mark_free(line, at.slot); });
  }
  void write_value(SlotRef at, const std::byte* bytes) {
    if (entry_.value_bytes() != 0) Access::write(value(at), bytes, entry_.value_bytes());
  }

  // --- What readers do while the table may change: what they get is whole if nothing has. ---

  // Slots whose entry may be the key's.
  [[nodiscard]] static SlotMask read_candidates(const Line& line, Tag tag,
                                                Residence /*residence*/) {
    constexpr unsigned kTagsOfAWord = 4;
    uint32_t slots = 0;
    uint64_t four = 0;
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      if (slot % kTagsOfAWord == 0) four = Access::bytes(line, slot * sizeof(uint16_t), 8);
      const auto found = static_cast<uint16_t>(four >> (16 * (slot % kTagsOfAWord)));
      slots |= static_cast<uint32_t>(found == static_cast<uint16_t>(tag)) << slot;
    }
    return SlotMask{slots};
  }
  // Whether the entry in a slot is that of the key; then its value is copied.
  using ValueCopy = std::array<uint64_t, (Entry::kBytesMax - kKeyBytes) / 8 + 1>;
  [[nodiscard, gnu::always_inline]] bool read_value(SlotRef at, const std::byte* key_bytes,
                                                    Tag /*tag*/, Residence /*residence*/,
                                                    ValueCopy& copy) const {
    const auto* words = reinterpret_cast<const uint64_t*>(key(at));
    uint64_t difference = 0;
    for_each_word(kKeyBytes, [&](size_t offset, size_t /*bytes*/) {
      difference |= word_from(key_bytes + offset) ^ Access::load(words[offset / 8]);
    });
    if (difference != 0) return false;
    for_each_word(entry_.value_bytes(), [&](size_t offset, size_t /*bytes*/) {
      copy[offset / 8] = Access::load(words[(kKeyBytes + offset) / 8]);
    });
    return true;
  }
  // The primary bucket of the entry in a slot of the stash.
  [[nodiscard]] BucketIndex home(SlotRef at) const {
    uint64_t bucket = 0;
    std::memcpy(&bucket, entries_ + home_offset(at), sizeof(bucket));
    return BucketIndex{bucket};
  }
  void set_home(SlotRef at, BucketIndex primary) {
    const auto bucket = static_cast<uint64_t>(primary);
    std::memcpy(entries_ + home_offset(at), &bucket, sizeof(bucket));
  }

  // Calls touch(offset) with an offset in each cache line that an entry may lie in beside the one
  // that it starts in.
  template <class Touch>
  [[gnu::always_inline]] void for_each_further_line(Touch&& touch) const {
    if (!entry_.straddles()) return;
    for (size_t offset = 64; offset + 1 < entry_.bytes(); offset += 64) touch(offset);
    touch(entry_.bytes() - 1);
  }

 private:
  void fill(SlotRef at, EntryMark mark) {
    this->change(at.bucket, [at, mark](Line& line) {
      line.tags[at.slot] = static_cast<uint16_t>(mark.tag);
      mark_filled(line, at.slot, mark.is_displaced);
    });
  }
  [[nodiscard]] uint64_t entry_offset(SlotRef at) const {
    return (static_cast<uint64_t>(at.bucket) * kSlots + at.slot) * entry_.bytes();
  }
  [[nodiscard]] uint64_t home_offset(SlotRef at) const {
    const BucketCounts counts = this->bucket_counts();
    const uint64_t stash = static_cast<uint64_t>(at.bucket) - counts.hashed;
    return counts.all() * kSlots * entry_.bytes() + (stash * kSlots + at.slot) * sizeof(uint64_t);
  }

  std::byte* entries_;
  [[no_unique_address]] Entry entry_;
};

static_assert(TimedLayout<SplitLayout<FixedEntry<16, 16>>>);

}  // namespace roost
