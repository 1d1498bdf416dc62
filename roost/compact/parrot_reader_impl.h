// Definitions of BasicParrotReader.
#pragma once

#include <bit>

#include "roost/compact/parrot_reader.h"
#include "roost/isa/prefetch.h"

namespace roost::compact {

template <class Memory>
BasicParrotReader<Memory>::BasicParrotReader(const ParrotHead& head,
                                             std::span<const std::byte> image,
                                             const Versions& versions, uint64_t entries_max)
    : head_(head),
      model_(head.model, reinterpret_cast<const ModelLine*>(image.data() + head.lines_offset),
             reinterpret_cast<const uint32_t*>(image.data() + head.lines_offset +
                                               (uint64_t{head.model.line_count} + 1) *
                                                   sizeof(ModelLine))),
      hash_(head.hash_seed),
      bucket_bytes_(head.shape.bucket_bytes()),
      entry_bytes_(head.shape.entry_bytes()),
      buckets_(image.data() + head.buckets_offset),
      keys_(image.data() + head.keys_offset),
      stash_(image.data() + head.stash_offset),
      versions_(&versions),
      entries_max_(entries_max) {}

template <class Memory>
Result<BasicParrotReader<Memory>> BasicParrotReader<Memory>::open(std::span<const std::byte> image)
  requires(!Memory::kIsShared)
{
  static constexpr Versions kNone;
  const auto head = open_parrot(image);
  if (!head) return head.error();
  return BasicParrotReader(head.value(), image, kNone, head.value().entry_count);
}

template <class Memory>
BasicParrotReader<Memory> BasicParrotReader<Memory>::of_builder(std::span<const std::byte> image,
                                                                const Versions& versions,
                                                                uint64_t entries_max) {
  return BasicParrotReader(open_parrot(image).value(), image, versions, entries_max);
}

template <class Memory>
template <bool kCompares>
[[gnu::always_inline]] inline auto BasicParrotReader<Memory>::see_slot(const Bucket& at,
                                                                       uint64_t index,
                                                                       uint64_t key) const
    -> SlotSeen {
  const size_t slot = slot_of(key, at.seed());
  return {.stash = at.stash(),
          .word = at.slot(slot),
          .is_its = !kCompares || head_.shape.has_keys == 0 || key_of_slot(index, slot) == key};
}

template <class Memory>
template <bool kCompares>
[[gnu::always_inline]] inline bool BasicParrotReader<Memory>::is_of(const SlotSeen& slot,
                                                                    uint32_t value,
                                                                    const ParrotShape& shape,
                                                                    uint64_t key) const {
  const bool is_value = value != shape.absent();
  if constexpr (!kCompares) return is_value;
  return is_value & slot.is_its & (slot.word >> shape.value_bits == fingerprint_of(key));
}

// See look_up_in_groups(). `kCompares`: an image with fingerprints or keys.
template <class Memory>
template <bool kCompares>
class BasicParrotReader<Memory>::Lanes {
 public:
  explicit Lanes(const BasicParrotReader& reader)
      : reader_(reader),
        model_(reader.model_),
        shape_(reader.head_.shape),
        buckets_(reader.buckets_),
        bucket_bytes_(reader.bucket_bytes_) {}

  [[gnu::always_inline]] uint64_t start(uint64_t key) const {
    const uint64_t bucket = model_.bucket_of(key);
    const std::byte* const at = buckets_ + bucket * bucket_bytes_;
    prefetch(PrefetchHint::kT0, at);
    prefetch(PrefetchHint::kT0, at + bucket_bytes_ - 1);
    return bucket;
  }
  // Lanes whose key may be in the stash, or whose bucket changes meanwhile, are looked up alone.
  [[gnu::always_inline]] LaneAnswer finish(uint64_t key, uint64_t bucket, uint32_t& value) const {
    SlotSeen slot;
    const bool is_whole = reader_.versions_->is_in(BucketIndex{bucket}, [&] {
      slot = reader_.template see_slot<kCompares>({shape_, buckets_ + bucket * bucket_bytes_},
                                                  bucket, key);
      return true;
    });
    const auto is_alone = uint32_t{!is_whole} | uint32_t{slot.stash.may_have(key)};
    const auto in_slot = static_cast<uint32_t>(slot.word) & shape_.absent();
    const auto is_there =
        uint32_t{reader_.template is_of<kCompares>(slot, in_slot, shape_, key)} & ~is_alone;
    value = is_there != 0 ? in_slot : value;
    return static_cast<LaneAnswer>(is_there | is_alone << 1);
  }
  [[gnu::always_inline]] void prepare_alone(uint64_t /*key*/, uint64_t bucket) const {
    const uint64_t first = reader_.bucket(bucket).stash().first();
    prefetch(PrefetchHint::kT0, reader_.stash_ + first * reader_.entry_bytes_);
  }
  [[gnu::always_inline]] std::optional<uint32_t> look_up_alone(uint64_t key,
                                                               uint64_t bucket) const {
    return reader_.look_up_alone(bucket, key);
  }

 private:
  const BasicParrotReader& reader_;
  MonotoneModel model_;
  ParrotShape shape_;
  const std::byte* buckets_;
  size_t bucket_bytes_;
};

template <class Memory>
size_t BasicParrotReader<Memory>::lookup_unverified(std::span<const uint64_t> keys,
                                                    std::span<uint32_t> values,
                                                    HitWords maybe) const {
  const bool compares = head_.shape.has_keys != 0 || head_.shape.fingerprint_bits != 0;
  return compares ? look_up_in_groups(keys, values, maybe, Lanes<true>(*this))
                  : look_up_in_groups(keys, values, maybe, Lanes<false>(*this));
}

// Of a bucket that changes, a torn word may say that its run is anywhere; of a still image that
// nobody has audited, so may a whole one, and nothing is read there.
template <class Memory>
std::optional<uint32_t> BasicParrotReader<Memory>::look_up_alone(uint64_t index,
                                                                 uint64_t key) const {
  for (unsigned attempt = 0;; ++attempt) {
    if (attempt != 0) Memory::wait(attempt);
    std::optional<uint32_t> value;
    const bool is_whole = versions_->is_in(BucketIndex{index}, [&] {
      const SlotSeen slot = see_slot<true>(bucket(index), index, key);
      const bool is_run = slot.stash.first() + slot.stash.count() <= entries_max_;
      if (!is_run && Memory::kIsShared) return false;
      if (is_run && slot.stash.may_have(key)) value = find_in_stash(slot.stash, key);
      const auto in_slot = static_cast<uint32_t>(slot.word) & head_.shape.absent();
      if (!value && is_of<true>(slot, in_slot, head_.shape, key)) value = in_slot;
      return true;
    });
    if (is_whole) return value;
  }
}

template <class Memory>
std::optional<uint32_t> BasicParrotReader<Memory>::find_in_stash(StashWord stash,
                                                                 uint64_t key) const {
  for (uint64_t i = stash.first(); i < stash.first() + stash.count(); ++i) {
    const StashEntry entry = stash_entry(i);
    if (entry.key == key) return entry.value;
    if (entry.key > key) break;
  }
  return {};
}

template <class Memory>
ParrotBytes BasicParrotReader<Memory>::bytes() const {
  return {.head = head_.lines_offset,
          .model = head_.buckets_offset - head_.lines_offset,
          .buckets = head_.keys_offset - head_.buckets_offset,
          .keys = head_.stash_offset - head_.keys_offset,
          .stash = head_.image.image_bytes - head_.stash_offset};
}

template <class Memory>
std::optional<std::string> BasicParrotReader<Memory>::audit() const {
  const std::span<const ModelLine> lines = model_.lines();
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].key > lines[i + 1].key || lines[i].place > lines[i + 1].place ||
        lines[i].key_shift >= 64 || lines[i].slope_shift >= 64)
      return "line " + std::to_string(i) + " of the model falls";
  }
  if (lines.back().place >> kFractionBits >= head_.bucket_count)
    return "the model leads behind the last bucket";
  const std::span<const uint32_t> prefixes = model_.prefixes();
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (prefixes[i] >= head_.model.line_count || (i > 0 && prefixes[i] < prefixes[i - 1]))
      return "prefix " + std::to_string(i) + " of the model leads to no line";
  }
  for (uint64_t index = 0; index < head_.bucket_count; ++index)
    if (auto wrong = audit_bucket(index)) return wrong;
  return {};
}

template <class Memory>
std::optional<std::string> BasicParrotReader<Memory>::audit_bucket(uint64_t index) const {
  const auto wrong = [&](const char* what) { return "bucket " + std::to_string(index) + what; };
  const Bucket at = bucket(index);
  const StashWord stash = at.stash();
  if (stash.count() > kStashWalkMax) return wrong(" has more entries in the stash than it may");
  if (stash.first() + stash.count() > head_.entry_count)
    return wrong(" leads behind the end of the stash");
  uint16_t filter = 0;
  for (size_t i = 0; i < stash.count(); ++i) {
    const StashEntry entry = stash_entry(stash.first() + i);
    if (model_.bucket_of(entry.key) != index) return wrong(" has a key of another one");
    if (i > 0 && entry.key <= stash_entry(stash.first() + i - 1).key)
      return wrong(" has entries of the stash that are not sorted");
    filter |= static_cast<uint16_t>(1U << StashWord::filter_bit(entry.key));
  }
  if (filter != stash.filter()) return wrong(" has a filter of other keys");
  return {};
}

}  // namespace roost::compact
