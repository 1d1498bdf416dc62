// (2,4)-cuckoo hashing: two buckets a key, four slots a bucket, keys stored whole (PAR-16).
//
//   bucket   4 keys | 4 values of whole bytes; a bucket may lie across two lines
//
// One keyed hash gives both buckets. A lookup asks for the first bucket's lines; keys that are not
// there for the second one's, so a call touches those only that it must.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lab/contestants/staged_batch.h"
#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/line_map_reader.h"
#include "roost/hash/keyed_hash.h"
#include "roost/memory/arena.h"
#include "roost/traffic/draw.h"

namespace roost::lab {

template <class Key>
class Cuckoo24 : public ValueAnswers<Key> {
  using Padded = compact::PaddedKey<Key>;
  static constexpr size_t kSlots = 4;
  static constexpr int kKicksMax = 2'000;

 public:
  static constexpr std::string_view kName = "cuckoo_2_4";
  static constexpr bool kKeepsKeys = true;

  static Result<Cuckoo24> build(const ValueTableConfig& config, ValueEntries<Key> entries) {
    const auto slots = static_cast<uint64_t>(static_cast<double>(entries.size()) / config.load);
    Cuckoo24 table(config, slots / kSlots + 1);
    auto memory = Arena::map(table.image_bytes(), {.pages = config.pages});
    if (!memory) return memory.error();
    table.memory_ = std::make_shared<Arena>(std::move(memory).value());
    table.buckets_ = table.memory_->data();
    for (uint64_t bucket = 0; bucket < table.bucket_count_; ++bucket)
      for (size_t slot = 0; slot < kSlots; ++slot) table.write_value(bucket, slot, table.absent_);
    for (const ValueEntry<Key>& entry : entries)
      if (!table.put(entry.key, entry.value)) return Error{"no room after many kicks"};
    return table;
  }

  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) const {
    struct Group {
      std::array<uint64_t, kStagedLanes> hashes;
      uint32_t found;
    };
    run_staged<Group>(
        keys.size(),
        [&](size_t first, size_t count, Group& group) {
          for (size_t lane = 0; lane < count; ++lane) {
            group.hashes[lane] = hash_of(keys[first + lane]);
            prefetch_both(at(bucket_of(group.hashes[lane], 0)), bucket_bytes());
          }
        },
        [&](size_t first, size_t count, Group& group) {
          group.found = 0;
          for (size_t lane = 0; lane < count; ++lane) {
            const uint32_t value = value_in(bucket_of(group.hashes[lane], 0), keys[first + lane]);
            if (value == absent_) {
              prefetch_both(at(bucket_of(group.hashes[lane], 1)), bucket_bytes());
              continue;
            }
            answers[first + lane] = value;
            group.found |= uint32_t{1} << lane;
          }
        },
        [&](size_t first, size_t count, Group& group) {
          const auto all = static_cast<uint32_t>((uint64_t{1} << count) - 1);
          for (uint32_t left = all & ~group.found; left != 0; left &= left - 1) {
            const auto lane = static_cast<size_t>(std::countr_zero(left));
            const uint32_t value = value_in(bucket_of(group.hashes[lane], 1), keys[first + lane]);
            if (value == absent_) continue;
            answers[first + lane] = value;
            group.found |= uint32_t{1} << lane;
          }
          hits.write_group(first, group.found);
        });
  }

  compact::ChangeOutcome insert(const Key& key, uint32_t value) {
    if (find(key)) return compact::ChangeOutcome::kThere;
    return put(key, value) ? compact::ChangeOutcome::kDone : compact::ChangeOutcome::kNoRoom;
  }
  compact::ChangeOutcome update(const Key& key, uint32_t value) { return change(key, value); }
  compact::ChangeOutcome erase(const Key& key) { return change(key, absent_); }

  [[nodiscard]] uint64_t image_bytes() const { return bucket_count_ * bucket_bytes(); }
  [[nodiscard]] uint64_t builder_bytes() const { return 0; }
  [[nodiscard]] const void* image_address() const { return memory_->data(); }

 private:
  struct Place {
    uint64_t bucket;
    size_t slot;
  };

  Cuckoo24(const ValueTableConfig& config, uint64_t bucket_count)
      : hash_(config.seed),
        bucket_count_(bucket_count),
        absent_(absent_value(config.value_bits)),
        value_bytes_((config.value_bits + 7) / 8),
        draw_(config.seed) {}

  [[nodiscard]] uint64_t hash_of(const Key& key) const { return Padded(key).hashed(hash_).bits; }
  [[nodiscard]] uint64_t bucket_of(uint64_t hash, unsigned which) const {
    const uint64_t word = which == 0 ? hash : (hash ^ hash >> 29) * 0xD6E8FEB86659FD93U;
    return multiply_wide(word, bucket_count_).high;
  }
  [[nodiscard]] size_t bucket_bytes() const { return kSlots * (sizeof(Key) + value_bytes_); }
  [[nodiscard]] std::byte* at(uint64_t bucket) const { return buckets_ + bucket * bucket_bytes(); }
  [[nodiscard]] bool has_key(uint64_t bucket, size_t slot, const Key& key) const {
    return std::memcmp(at(bucket) + slot * sizeof(Key), &key, sizeof key) == 0;
  }
  [[nodiscard]] uint32_t value(uint64_t bucket, size_t slot) const {
    uint32_t value = 0;
    std::memcpy(&value, at(bucket) + kSlots * sizeof(Key) + slot * value_bytes_, value_bytes_);
    return value & absent_;
  }
  void write_value(uint64_t bucket, size_t slot, uint32_t value) {
    std::memcpy(at(bucket) + kSlots * sizeof(Key) + slot * value_bytes_, &value, value_bytes_);
  }
  void write(Place place, const Key& key, uint32_t value) {
    std::memcpy(at(place.bucket) + place.slot * sizeof(Key), &key, sizeof key);
    write_value(place.bucket, place.slot, value);
  }
  // The reserved value where the key is not.
  [[nodiscard]] uint32_t value_in(uint64_t bucket, const Key& key) const {
    for (size_t slot = 0; slot < kSlots; ++slot)
      if (has_key(bucket, slot, key)) return value(bucket, slot);
    return absent_;
  }

  [[nodiscard]] std::optional<Place> find(const Key& key) const {
    const uint64_t hash = hash_of(key);
    for (unsigned which = 0; which < 2; ++which) {
      const uint64_t bucket = bucket_of(hash, which);
      for (size_t slot = 0; slot < kSlots; ++slot)
        if (has_key(bucket, slot, key) && value(bucket, slot) != absent_)
          return Place{bucket, slot};
    }
    return {};
  }
  compact::ChangeOutcome change(const Key& key, uint32_t value) {
    const auto place = find(key);
    if (!place) return compact::ChangeOutcome::kNotFound;
    // A key without a value must not hide the same one elsewhere.
    write(*place, value == absent_ ? Key{} : key, value);
    return compact::ChangeOutcome::kDone;
  }

  // Where there is no room a key of the bucket goes to its other one, and so on.
  bool put(Key key, uint32_t value) {
    for (int kick = 0; kick < kKicksMax; ++kick) {
      const uint64_t hash = hash_of(key);
      for (unsigned which = 0; which < 2; ++which) {
        const uint64_t bucket = bucket_of(hash, which);
        for (size_t slot = 0; slot < kSlots; ++slot) {
          if (this->value(bucket, slot) != absent_) continue;
          write({bucket, slot}, key, value);
          return true;
        }
      }
      const Place place{bucket_of(hash, static_cast<unsigned>(draw_.below(2))),
                        draw_.below(kSlots)};
      const Key leaving = key_at(place);
      const uint32_t leaving_value = this->value(place.bucket, place.slot);
      write(place, key, value);
      key = leaving;
      value = leaving_value;
    }
    return false;
  }
  [[nodiscard]] Key key_at(Place place) const {
    Key key;
    std::memcpy(&key, at(place.bucket) + place.slot * sizeof key, sizeof key);
    return key;
  }

  KeyedHash hash_;
  uint64_t bucket_count_;
  uint32_t absent_;
  size_t value_bytes_;
  traffic::Draw draw_;
  std::shared_ptr<Arena> memory_;
  std::byte* buckets_ = nullptr;
};

}  // namespace roost::lab
