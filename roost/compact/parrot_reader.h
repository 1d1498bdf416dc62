// Reads a Parrot table's image: batches of keys, without keys to compare them with.
#pragma once

#include <cstddef>
#include <cstdint>
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

// The head of an image whose parts lie where they can. Errors: see BasicParrotReader::open().
[[nodiscard]] Result<ParrotHead> open_parrot(std::span<const std::byte> image);

// Borrows the image, which must outlive it. Of a StillImage nothing may change meanwhile; of a
// SharedImage its builder may change what it likes. Any number of readers; nothing is allocated.
template <class Memory>
class BasicParrotReader {
 public:
  using KeyType = uint64_t;
  using Bucket = ParrotBucket<Memory>;
  using Versions = typename Memory::Versions;

  // Errors: the image is foreign, cut, changed, or its parts lie where they cannot. Constant time
  // but for a checksum. Of an image that strangers made, audit() must also find nothing wrong.
  static Result<BasicParrotReader> open(std::span<const std::byte> image)
    requires(!Memory::kIsShared);
  // Of an image that its builder changes. The stash never has more than `entries_max` entries.
  static BasicParrotReader of_builder(std::span<const std::byte> image, const Versions& versions,
                                      uint64_t entries_max);

  // Writes the value that each key has, if the table has the key. A cleared bit of `maybe` is
  // certain: the table has it not, and the value stays as it is. A set bit is certain only for keys
  // of the stash, or where the image keeps keys; else a key that the table has not gets the value
  // of another one, by chance less often with fingerprints. Returns how many bits are set.
  // About one cache line a key beyond the model, two where a bucket lies across lines; one more for
  // a key of the stash, and for keys that are kept. An answer was true at some moment of the call.
  size_t lookup_unverified(std::span<const uint64_t> keys, std::span<uint32_t> values,
                           HitWords maybe) const;
  // The same where bits are certain: the image keeps keys.
  size_t lookup(std::span<const uint64_t> keys, std::span<uint32_t> values, HitWords hits) const {
    ROOST_ASSERT(head_.shape.has_keys != 0);
    return lookup_unverified(keys, values, hits);
  }

  // Of a StillImage: a scan of many buckets has no moment that it could be true of.
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
  [[nodiscard]] Bucket bucket(uint64_t index) const {
    return {head_.shape, buckets_ + index * bucket_bytes_};
  }
  struct StashEntry {
    uint64_t key = 0;
    uint32_t value = 0;
  };
  [[nodiscard]] StashEntry stash_entry(uint64_t index) const {
    const std::byte* const at = stash_ + index * entry_bytes_;
    StashEntry entry;
    entry.key = Memory::load(at) & head_.shape.key_mask();
    entry.value =
        static_cast<uint32_t>(Memory::load(at + head_.shape.key_bytes())) & head_.shape.absent();
    return entry;
  }
  [[nodiscard]] uint64_t key_of_slot(uint64_t bucket, size_t slot) const {
    return Memory::load(keys_ + (bucket * kBucketSlots + slot) * sizeof(uint64_t));
  }
  [[nodiscard]] uint64_t fingerprint_of(uint64_t key) const {
    if (head_.shape.fingerprint_bits == 0) return 0;
    return hash_.hash<sizeof key>(&key).bits >> (64 - head_.shape.fingerprint_bits);
  }

  // Whether every bucket can be read: its run lies in the stash and is sorted, its keys are its own
  // and the filter has them; models do not fall. Linear.
  [[nodiscard]] std::optional<std::string> audit() const;

 private:
  BasicParrotReader(const ParrotHead& head, std::span<const std::byte> image,
                    const Versions& versions, uint64_t entries_max);

  template <bool kCompares>
  class Lanes;
  // A key's slot, as it may be while the builder changes it.
  struct SlotSeen {
    StashWord stash{};
    uint64_t word = 0;
    bool is_its = false;  // as far as a kept key says
  };
  template <bool kCompares>
  [[nodiscard]] SlotSeen see_slot(const Bucket& at, uint64_t bucket, uint64_t key) const;
  // Whether it is the key's, as far as its value, its fingerprint and its key say.
  template <bool kCompares>
  [[nodiscard]] bool is_of(const SlotSeen& slot, uint32_t value, const ParrotShape& shape,
                           uint64_t key) const;
  // The stash too, until nothing has changed meanwhile.
  [[nodiscard]] std::optional<uint32_t> look_up_alone(uint64_t bucket, uint64_t key) const;
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
  const Versions* versions_;
  uint64_t entries_max_;
};

using ParrotReader = BasicParrotReader<StillImage>;
extern template class BasicParrotReader<StillImage>;
extern template class BasicParrotReader<SharedImage>;

template <class Memory>
template <class Visit>
void BasicParrotReader<Memory>::scan(uint64_t low, uint64_t high, Visit&& visit) const {
  if (low > high) return;
  const uint64_t last = model_.bucket_of(high);
  for (uint64_t index = model_.bucket_of(low); index <= last; ++index) {
    const Bucket at = bucket(index);
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
