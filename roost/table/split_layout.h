// The split layout: an array of bucket lines, and beside it an array of keys and values (CPP-01).
//
//   | line 0 | line 1 | ... | line n-1 | entry 0 | entry 1 | ... | entry 8n-1 |
//
// The entry of slot s of bucket b is entry 8 b + s: the place is implicit, nothing is stored to
// find it (CPP-04). An entry is the key, the value behind it, and padding to 8 bytes. 16 + 16 bytes
// make 40 bytes a slot, lines and timers included.
//
// A hit touches the bucket's line and the entry's (two lines, where an entry straddles); a miss
// only the bucket's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/hash/hash64.h"
#include "roost/isa/prefetch.h"
#include "roost/table/tag_line.h"

namespace roost {

// A slot of a bucket.
struct SlotRef {
  BucketIndex bucket;
  unsigned slot;

  friend bool operator==(SlotRef, SlotRef) = default;
};

template <size_t kKeySize, size_t kValueSize>
class SplitLayout {
 public:
  static constexpr size_t kKeyBytes = kKeySize;
  static constexpr size_t kValueBytes = kValueSize;
  static constexpr size_t kEntryBytes = (kKeySize + kValueSize + 7) / 8 * 8;
  static constexpr size_t kBucketBytes = sizeof(TagLine) + kSlotsPerBucket * kEntryBytes;

  // `image` is aligned to 64 bytes, zeroed, and holds bucket_count * kBucketBytes bytes.
  SplitLayout(std::byte* image, uint64_t bucket_count)
      : lines_(reinterpret_cast<TagLine*>(image)),
        entries_(image + bucket_count * sizeof(TagLine)) {}

  [[nodiscard]] TagLine& line(BucketIndex bucket) { return lines_[static_cast<uint64_t>(bucket)]; }
  [[nodiscard]] const TagLine& line(BucketIndex bucket) const {
    return lines_[static_cast<uint64_t>(bucket)];
  }

  [[nodiscard]] std::byte* key(SlotRef at) { return entries_ + entry_offset(at); }
  [[nodiscard]] const std::byte* key(SlotRef at) const { return entries_ + entry_offset(at); }
  [[nodiscard]] std::byte* value(SlotRef at) { return key(at) + kKeyBytes; }
  [[nodiscard]] const std::byte* value(SlotRef at) const { return key(at) + kKeyBytes; }

  // The slot whose value stands at `value`.
  [[nodiscard]] SlotRef slot_of_value(const std::byte* value) const {
    const uint64_t entry = static_cast<uint64_t>(value - kKeyBytes - entries_) / kEntryBytes;
    return {BucketIndex{entry / kSlotsPerBucket}, static_cast<unsigned>(entry % kSlotsPerBucket)};
  }

  void write_entry(SlotRef at, const std::byte* key_bytes, const std::byte* value_bytes) {
    std::memcpy(key(at), key_bytes, kKeyBytes);
    if constexpr (kValueBytes != 0) std::memcpy(value(at), value_bytes, kValueBytes);
  }

  void copy_entry(SlotRef from, SlotRef to) { std::memcpy(key(to), key(from), kEntryBytes); }

  // The line that a candidate's key comparison starts in, and the one its value ends in.
  template <PrefetchHint kHint>
  [[gnu::always_inline]] static void prefetch_entry(const std::byte* key_bytes) {
    prefetch<kHint>(key_bytes);
    if constexpr (64 % kEntryBytes != 0) prefetch<kHint>(key_bytes + kEntryBytes - 1);
  }

 private:
  static constexpr uint64_t entry_offset(SlotRef at) {
    return (static_cast<uint64_t>(at.bucket) * kSlotsPerBucket + at.slot) * kEntryBytes;
  }

  TagLine* lines_;
  std::byte* entries_;
};

}  // namespace roost
