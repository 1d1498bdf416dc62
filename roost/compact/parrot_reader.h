// Reads a Parrot table's image: batches of keys, without keys to compare them with.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/lookup_groups.h"
#include "roost/compact/parrot_layout.h"
#include "roost/hash/keyed_hash.h"

namespace roost::compact {

// Bytes of an image by what they are for.
struct ParrotBytes {
  uint64_t head = 0;
  uint64_t model = 0;
  uint64_t buckets = 0;
  uint64_t keys = 0;
  uint64_t stash = 0;

  [[nodiscard]] uint64_t sum() const { return head + model + buckets + keys + stash; }
};

// Borrows the image, which must not change while it reads, and outlive it. Any number of readers;
// nothing is allocated.
class ParrotReader {
 public:
  // Errors: the image is foreign, cut, changed, or its parts lie where they cannot. Constant time
  // but for a checksum. Of an image that strangers made, audit() must also find nothing wrong.
  static Result<ParrotReader> open(std::span<const std::byte> image);

  // Writes the value that each key has, if the table has the key. A cleared bit of `maybe` is
  // certain: the table has it not, and the value stays as it is. A set bit is certain only for keys
  // of the stash, or where the image keeps keys; else a key that the table has not gets the value
  // of another one, by chance less often with fingerprints. Returns how many bits are set.
  // About one cache line a key beyond the model, two where a bucket lies across lines; one more for
  // a key of the stash, and for keys that are kept.
  size_t lookup_unverified(std::span<const uint64_t> keys, std::span<uint32_t> values,
                           HitWords maybe) const;
  // The same where bits are certain: the image keeps keys.
  size_t lookup(std::span<const uint64_t> keys, std::span<uint32_t> values, HitWords hits) const {
    ROOST_ASSERT(head_.shape.has_keys != 0);
    return lookup_unverified(keys, values, hits);
  }

  // Calls visit(value, key) with all values of keys from `low` to `high`, in the order of buckets;
  // those of a bucket are in no order. The key is known of stash entries only. Up to four values of
  // each of the two outermost buckets may be of keys beyond the bounds, and a value that an update
  // has shadowed comes too: fetch what they lead to, and leave out what has another key. It
  // ends when visit() returns false, so that a scan by length stops when enough was found.
  template <class Visit>
  void scan(uint64_t low, uint64_t high, Visit&& visit) const;
  template <class Visit>
  void scan_from(uint64_t low, Visit&& visit) const {
    scan(low, ~uint64_t{0}, visit);
  }

  [[nodiscard]] const ParrotHead& head() const { return head_; }
  [[nodiscard]] MonotoneModel model() const { return model_; }
  [[nodiscard]] ParrotBytes bytes() const;
  [[nodiscard]] ParrotBucket bucket(uint64_t index) const {
    return {head_.shape, buckets_ + index * bucket_bytes_};
  }
  struct StashEntry {
    uint64_t key = 0;
    uint32_t value = 0;
  };
  [[nodiscard]] StashEntry stash_entry(uint64_t index) const {
    const std::byte* const at = stash_ + index * entry_bytes_;
    StashEntry entry;
    std::memcpy(&entry.key, at, sizeof entry.key);
    entry.key &= head_.shape.key_mask();
    std::memcpy(&entry.value, at + head_.shape.key_bytes(), sizeof entry.value);
    entry.value &= head_.shape.absent();
    return entry;
  }
  [[nodiscard]] uint64_t key_of_slot(uint64_t bucket, size_t slot) const {
    uint64_t key = 0;
    std::memcpy(&key, keys_ + (bucket * kBucketSlots + slot) * sizeof key, sizeof key);
    return key;
  }
  [[nodiscard]] uint64_t fingerprint_of(uint64_t key) const {
    if (head_.shape.fingerprint_bits == 0) return 0;
    return hash_.hash<sizeof key>(&key).bits >> (64 - head_.shape.fingerprint_bits);
  }

  // Whether every bucket can be read: its run lies in the stash and is sorted, its keys are its own
  // and the filter has them; models do not fall. Linear.
  [[nodiscard]] std::optional<std::string> audit() const;

 private:
  explicit ParrotReader(const ParrotHead& head, std::span<const std::byte> image);

  // One group: buckets, then what they say.
  uint32_t look_up(std::span<const uint64_t> keys, std::span<uint32_t> values) const;
  [[nodiscard]] std::optional<uint32_t> find_in_stash(StashWord stash, uint64_t key) const;
  [[nodiscard]] std::optional<std::string> audit_bucket(uint64_t index) const;

  ParrotHead head_;
  MonotoneModel model_;
  KeyedHash hash_;
  size_t bucket_bytes_;
  size_t entry_bytes_;
  const std::byte* buckets_;
  const std::byte* keys_;
  const std::byte* stash_;
};

template <class Visit>
void ParrotReader::scan(uint64_t low, uint64_t high, Visit&& visit) const {
  if (low > high) return;
  const uint64_t last = model_.bucket_of(high);
  for (uint64_t index = model_.bucket_of(low); index <= last; ++index) {
    const ParrotBucket at = bucket(index);
    for (size_t slot = 0; slot < kBucketSlots; ++slot) {
      if (at.is_empty(slot)) continue;
      if (!visit(at.value(slot), std::optional<uint64_t>())) return;
    }
    const StashWord stash = at.stash();
    for (uint64_t i = stash.first(); i < stash.first() + stash.count(); ++i) {
      const StashEntry entry = stash_entry(i);
      if (entry.key < low || entry.key > high) continue;
      if (!visit(entry.value, std::optional(entry.key))) return;
    }
  }
}

}  // namespace roost::compact
