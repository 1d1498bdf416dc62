// Ludo hashing (Shi and Qian, SIGMETRICS 2020): an Othello of one bit a key says which of two
// buckets a key is in, and the bucket's seed of 5 bits which of its four slots; no keys.
// 2.33 + (5 + 4 v) / 4 e bits a key (PAR-14, PAR-16).
//
//   bucket   seed 5 | 4 values, bit behind bit
//
// The builder moves keys from bucket to bucket, as cuckoo hashing does, until each bucket has a
// seed under which its keys have different slots; a full one has none in one case of 23.
//
// One keyed hash gives all places and the word that a seed sends to a slot; the published program
// computes three.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/contestants/othello.h"
#include "lab/contestants/staged_batch.h"
#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/bit_fields.h"
#include "roost/compact/line_layout.h"
#include "roost/compact/line_map_reader.h"
#include "roost/hash/keyed_hash.h"
#include "roost/memory/arena.h"
#include "roost/traffic/draw.h"

namespace roost::lab {

inline constexpr unsigned kLudoSlots = 4;
inline constexpr unsigned kLudoSeedBits = 5;

// What a hash says of a key.
struct LudoPlaces {
  uint64_t bucket_count;

  [[nodiscard]] uint64_t bucket(uint64_t hash, uint32_t which) const {
    const uint64_t word = which == 0 ? hash : (hash ^ hash >> 29) * 0xD6E8FEB86659FD93U;
    return multiply_wide(word, bucket_count).high;
  }
  [[nodiscard]] static size_t slot(uint64_t hash, uint8_t seed) {
    return compact::slot_of_word(static_cast<uint32_t>(hash), seed, kLudoSlots);
  }
};

// Which bucket each key is in, and each bucket's seed.
struct LudoPlan {
  std::vector<uint8_t> seeds;
  std::vector<uint32_t> which;  // by key, 0 or 1

  // By hashes of keys. Errors: there is no room, which more buckets or another hash mend.
  static Result<LudoPlan> make(LudoPlaces places, std::span<const uint64_t> hashes);
};

template <class Key>
class Ludo : public ValueAnswers<Key> {
  using Padded = compact::PaddedKey<Key>;

 public:
  static constexpr std::string_view kName = "ludo";
  static constexpr bool kKeepsKeys = false;

  static Result<Ludo> build(const ValueTableConfig& config, ValueEntries<Key> entries) {
    const KeyedHash hash(config.seed);
    std::vector<uint64_t> hashes(entries.size());
    for (size_t i = 0; i < entries.size(); ++i)
      hashes[i] = Padded(entries[i].key).hashed(hash).bits;
    const auto slots = static_cast<uint64_t>(static_cast<double>(entries.size()) / config.load);
    const LudoPlaces places{slots / kLudoSlots + 1};
    auto plan = LudoPlan::make(places, hashes);
    if (!plan) return plan.error();
    auto locator = OthelloCells::build(hashes, plan.value().which, 1, config.pages);
    if (!locator) return locator.error();
    Ludo ludo(hash, places, config.value_bits, std::move(locator).value());
    auto memory = Arena::map(ludo.bucket_bytes(), {.pages = config.pages});
    if (!memory) return memory.error();
    ludo.buckets_ = std::make_shared<Arena>(std::move(memory).value());
    ludo.fill(entries, hashes, plan.value());
    return ludo;
  }

  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) const {
    struct Group {
      std::array<uint64_t, kStagedLanes> hashes;
      std::array<OthelloCells::Places, kStagedLanes> cells;
      std::array<uint64_t, kStagedLanes> bits;  // where the bucket begins
    };
    run_staged<Group>(
        keys.size(),
        [&](size_t first, size_t count, Group& group) {
          for (size_t lane = 0; lane < count; ++lane) {
            group.hashes[lane] = hash_of(keys[first + lane]);
            group.cells[lane] = locator_.places_of(group.hashes[lane]);
            locator_.ask_for(group.cells[lane]);
          }
        },
        [&](size_t, size_t count, Group& group) {
          for (size_t lane = 0; lane < count; ++lane) {
            const uint32_t which = locator_.value_at(group.cells[lane]);
            group.bits[lane] = places_.bucket(group.hashes[lane], which) * bits_of_bucket();
            prefetch_both(buckets_->data() + group.bits[lane] / 8, bits_of_bucket() / 8 + 1);
          }
        },
        [&](size_t first, size_t count, Group& group) {
          uint32_t found = 0;
          for (size_t lane = 0; lane < count; ++lane) {
            answers[first + lane] = value_at(group.bits[lane], group.hashes[lane]);
            found |= uint32_t{answers[first + lane] != absent_} << lane;
          }
          hits.write_group(first, found);
        });
  }

  [[nodiscard]] uint64_t hash_of(const Key& key) const { return Padded(key).hashed(hash_).bits; }
  [[nodiscard]] const OthelloCells& locator() const { return locator_; }
  [[nodiscard]] uint64_t image_bytes() const { return locator_.used_bytes() + bucket_bytes(); }
  [[nodiscard]] uint64_t builder_bytes() const { return 0; }
  [[nodiscard]] const void* image_address() const { return buckets_->data(); }

 private:
  Ludo(const KeyedHash& hash, LudoPlaces places, uint32_t value_bits, OthelloCells locator)
      : hash_(hash),
        places_(places),
        value_bits_(value_bits),
        absent_(absent_value(value_bits)),
        locator_(std::move(locator)) {}

  [[nodiscard]] unsigned bits_of_bucket() const { return kLudoSeedBits + kLudoSlots * value_bits_; }
  [[nodiscard]] uint64_t bucket_bytes() const {
    return (places_.bucket_count * bits_of_bucket() + 7) / 8 + sizeof(uint64_t);
  }
  [[nodiscard]] uint64_t slot_bit(uint64_t bucket_bit, size_t slot) const {
    return bucket_bit + kLudoSeedBits + slot * value_bits_;
  }
  [[nodiscard]] uint32_t value_at(uint64_t bit, uint64_t hash) const {
    const auto seed = static_cast<uint8_t>(load_bits(buckets_->data(), bit, kLudoSeedBits));
    return static_cast<uint32_t>(
        load_bits(buckets_->data(), slot_bit(bit, LudoPlaces::slot(hash, seed)), value_bits_));
  }

  // Slots that no key has keep the reserved value.
  void fill(ValueEntries<Key> entries, std::span<const uint64_t> hashes, const LudoPlan& plan) {
    std::byte* const bytes = buckets_->data();
    for (uint64_t bucket = 0; bucket < places_.bucket_count; ++bucket) {
      const uint64_t bit = bucket * bits_of_bucket();
      compact::store_bits(bytes, bit, kLudoSeedBits, plan.seeds[bucket]);
      for (size_t slot = 0; slot < kLudoSlots; ++slot)
        compact::store_bits(bytes, slot_bit(bit, slot), value_bits_, absent_);
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      const uint64_t bucket = places_.bucket(hashes[i], plan.which[i]);
      const size_t slot = LudoPlaces::slot(hashes[i], plan.seeds[bucket]);
      compact::store_bits(bytes, slot_bit(bucket * bits_of_bucket(), slot), value_bits_,
                          entries[i].value);
    }
  }

  KeyedHash hash_;
  LudoPlaces places_;
  uint32_t value_bits_;
  uint32_t absent_;
  OthelloCells locator_;
  std::shared_ptr<Arena> buckets_;
};

}  // namespace roost::lab
