// The forwarding table of CuckooSwitch (CoNEXT 2013) as it was published, and its steps on the way
// (cuckoo_switch_rungs.h): buckets of four words of eight bytes, 48 bits of key and 16 of value.
//
// A key is in one of two buckets, which two CRCs of it say. A reader remembers the version counters
// of both buckets, looks into them and looks at the counters again; where one is odd or has
// changed, it begins anew, in a batch with all keys. The writer makes the counters of what
// it changes odd and then even, each once also where two buckets share one.
//
// An entry goes to either bucket at random, and a full bucket's victim is drawn as well, so half of
// the hits are in the second bucket. Moves begin at the free end of a path. What the paper
// leaves open (CSW-20): walks of 250 steps, ten of them, then an insert is refused; erasing clears
// a word. A key of zero stands for a free word and is refused.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lab/contestants/cuckoo_switch_rungs.h"
#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/hash/hash64.h"
#include "roost/isa/crc32c.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"
#include "roost/table/table_stats.h"
#include "roost/traffic/draw.h"

namespace roost::lab {

template <class Rung>
class CuckooSwitch {
  static constexpr size_t kSlots = 4;
  static constexpr size_t kGroup = 32;
  static constexpr uint64_t kCounters = 8192;  // a few thousand for all buckets (CSW-04)
  static constexpr size_t kStepsMax = 250;
  static constexpr unsigned kWalksMax = 10;
  static constexpr unsigned kValueBits = 16;
  using Order = typename Rung::Order;

 public:
  using KeyType = traffic::Key48;
  using ValueType = traffic::Value16;
  using Answer = ValueType;
  static constexpr std::string_view kName = Rung::kName;
  static constexpr size_t kLanesPerCallMax = Rung::kLanesPerCallMax;

  static Result<CuckooSwitch> create(uint64_t slots, PageKind pages) {
    const uint64_t buckets = std::max<uint64_t>(slots / kSlots, 2);
    if (buckets >> 32 != 0) return Error{"a bucket's number has 32 bits"};
    Result<Arena> memory = Arena::map(buckets * sizeof(Bucket),
                                      {.pages = Rung::kSmallPages ? PageKind::kSmall : pages});
    if (!memory) return memory.error();
    return CuckooSwitch(std::make_shared<Held>(std::move(memory).value(), buckets));
  }
  // For another thread.
  [[nodiscard]] CuckooSwitch reader() const { return *this; }

  // --- Lookups. ---

  void lookup(std::span<const KeyType> keys, std::span<ValueType> answers, HitWords hits) const {
    for (size_t first = 0; first < keys.size(); first += kGroup) {
      const auto group = keys.subspan(first, std::min(kGroup, keys.size() - first));
      if constexpr (kLanesPerCallMax > 1) {
        hits.write_group(first, lookup_batch(group, answers.subspan(first)));
      } else {
        uint32_t found = 0;
        for (size_t lane = 0; lane < group.size(); ++lane)
          found |= uint32_t{lookup_one(group[lane], answers[first + lane])} << lane;
        hits.write_group(first, found);
      }
    }
  }
  static bool is_answer(const Answer& answer, const ValueType& value) { return answer == value; }
  static uint64_t answer_word(const Answer& answer) { return word_of(answer); }

  // --- Changes: one thread at a time, which the lock sees to (CSW-08). ---

  bool insert(const KeyType& key, const ValueType& value) {
    if (key.word == 0) return false;
    const std::scoped_lock lock(held_->writing);
    const uint64_t word = key.word << kValueBits | value.word;
    Pair pair = pair_of(key);
    if (const auto place = find(pair, key)) {
      change(*place, word);
      return true;
    }
    if (held_->random.below(2) != 0) std::swap(pair.first, pair.second);
    auto hole = free_slot(pair.first);
    if (!hole) hole = free_slot(pair.second);
    for (unsigned walk = 0; !hole && walk < kWalksMax; ++walk)
      hole = make_room(held_->random.below(2) != 0 ? pair.first : pair.second);
    if (!hole) return false;
    change(*hole, word);
    ++held_->stats.size;
    ++held_->stats.created;
    return true;
  }
  bool erase(const KeyType& key) {
    const std::scoped_lock lock(held_->writing);
    const auto place = find(pair_of(key), key);
    if (!place) return false;
    change(*place, 0);
    --held_->stats.size;
    return true;
  }
  // Not while others read.
  void clear() {
    std::memset(held_->memory.data(), 0, held_->bucket_count * sizeof(Bucket));
    held_->stats = {};
  }

  // --- What it is. ---

  [[nodiscard]] const void* entry_address(const KeyType& key) const {
    return &buckets_[pair_of(key).first];
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    return held_->memory.bytes() + kCounters * sizeof(VersionCounter) + sizeof(Held);
  }
  [[nodiscard]] FewestLines fewest_lines() const {
    return {.first_bytes = held_->bucket_count * sizeof(Bucket), .second_bytes = 0};
  }
  [[nodiscard]] TableStats stats() const { return held_->stats; }
  [[nodiscard]] std::optional<std::string_view> audit() const {
    uint64_t size = 0;
    for (uint64_t bucket = 0; bucket < held_->bucket_count; ++bucket) {
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        const uint64_t word = word_at({bucket, slot});
        if (word == 0) continue;
        ++size;
        const auto place = find(pair_of(key_in(word)), key_in(word));
        if (!place) return "an entry is in neither of its buckets";
        if (*place != Place{bucket, slot}) return "a key is there twice";
      }
    }
    return size == held_->stats.size ? std::nullopt
                                     : std::optional<std::string_view>("entries are not counted");
  }

 private:
  struct alignas(32) Bucket {
    std::array<uint64_t, kSlots> words;
  };
  static_assert(sizeof(Bucket) == 32, "two a line");
  struct Place {
    uint64_t bucket;
    unsigned slot;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Pair {
    uint64_t first;
    uint64_t second;
  };
  struct Versions {
    uint32_t first;
    uint32_t second;
    [[nodiscard]] bool is_changing() const { return ((first | second) & 1) != 0; }
    friend bool operator==(const Versions&, const Versions&) = default;
  };
  // What all objects of a table have together.
  struct Held {
    Held(Arena&& arena, uint64_t buckets)
        : memory(std::move(arena)),
          bucket_count(buckets),
          counters(std::make_unique<VersionCounter[]>(kCounters)) {}
    Arena memory;
    uint64_t bucket_count;
    std::unique_ptr<VersionCounter[]> counters;
    std::mutex writing;
    TableStats stats;
    traffic::Draw random{1};
  };

  explicit CuckooSwitch(std::shared_ptr<Held> held)
      : held_(std::move(held)),
        buckets_(reinterpret_cast<Bucket*>(held_->memory.data())),
        bucket_count_(held_->bucket_count) {}

  // The second CRC is of a multiple: that of the key itself under another seed would differ from
  // the first by a constant.
  [[nodiscard]] Pair pair_of(const KeyType& key) const {
    return {crc32c(0, key.word) * bucket_count_ >> 32,
            crc32c(0, key.word * 0x9E3779B97F4A7C15U) * bucket_count_ >> 32};
  }
  [[nodiscard]] static KeyType key_in(uint64_t word) { return {word >> kValueBits}; }
  [[nodiscard]] uint64_t word_at(Place place) const {
    return Order::load(buckets_[place.bucket].words[place.slot]);
  }
  [[nodiscard]] VersionCounter& counter(uint64_t bucket) const {
    return held_->counters[bucket % kCounters];
  }

  // --- A reader's steps. ---

  [[nodiscard]] Versions read_versions(Pair pair) const {
    return {Order::read(counter(pair.first)), Order::read(counter(pair.second))};
  }
  // Whether the key is in this bucket, and with which value.
  bool search(uint64_t bucket, const KeyType& key, ValueType& value) const {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      const uint64_t word = word_at({bucket, slot});
      if (key_in(word) == key && word != 0) {
        value = {static_cast<uint16_t>(word)};
        return true;
      }
    }
    return false;
  }

  bool lookup_one(const KeyType& key, ValueType& answer) const {
    const Pair pair = pair_of(key);
    for (;;) {
      const Versions before = read_versions(pair);
      if (before.is_changing()) continue;
      ValueType value{};
      const bool found = search(pair.first, key, value) || search(pair.second, key, value);
      if (read_versions(pair) != before) continue;
      if (found) answer = value;
      return found;
    }
  }

  // All lanes until no counter of any has changed meanwhile; which of them hit.
  uint32_t lookup_batch(std::span<const KeyType> keys, std::span<ValueType> answers) const {
    std::array<Pair, kGroup> pairs;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      pairs[lane] = pair_of(keys[lane]);
      if constexpr (Rung::kPrefetches) prefetch(PrefetchHint::kT0, &buckets_[pairs[lane].first]);
    }
    std::array<ValueType, kGroup> values{};
    for (;;) {
      const std::optional<uint32_t> found = try_batch(keys, pairs, values);
      if (!found) continue;
      for (size_t lane = 0; lane < keys.size(); ++lane)
        if ((*found >> lane & 1) != 0) answers[lane] = values[lane];
      return *found;
    }
  }
  std::optional<uint32_t> try_batch(std::span<const KeyType> keys,
                                    const std::array<Pair, kGroup>& pairs,
                                    std::array<ValueType, kGroup>& values) const {
    std::array<Versions, kGroup> before;
    bool is_changing = false;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      before[lane] = read_versions(pairs[lane]);
      is_changing |= before[lane].is_changing();
    }
    if (is_changing) return std::nullopt;
    uint32_t found = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if (search(pairs[lane].first, keys[lane], values[lane])) {
        found |= uint32_t{1} << lane;
      } else if constexpr (Rung::kPrefetches) {
        prefetch(PrefetchHint::kT0, &buckets_[pairs[lane].second]);
      }
    }
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if ((found >> lane & 1) != 0) continue;
      found |= uint32_t{search(pairs[lane].second, keys[lane], values[lane])} << lane;
    }
    for (size_t lane = 0; lane < keys.size(); ++lane)
      if (read_versions(pairs[lane]) != before[lane]) return std::nullopt;
    return found;
  }

  // --- The writer's steps. ---

  [[nodiscard]] std::optional<Place> find(Pair pair, const KeyType& key) const {
    for (const uint64_t bucket : {pair.first, pair.second}) {
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        const uint64_t word = word_at({bucket, slot});
        if (word != 0 && key_in(word) == key) return Place{bucket, slot};
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Place> free_slot(uint64_t bucket) const {
    for (unsigned slot = 0; slot < kSlots; ++slot)
      if (word_at({bucket, slot}) == 0) return Place{bucket, slot};
    return std::nullopt;
  }
  void store(Place place, uint64_t word) const {
    Order::store(buckets_[place.bucket].words[place.slot], word);
  }
  void change(Place place, uint64_t word) const {
    Order::add_one(counter(place.bucket));
    store(place, word);
    Order::add_one(counter(place.bucket));
  }
  void move(Place from, Place to) const {
    VersionCounter& one = counter(from.bucket);
    VersionCounter& other = counter(to.bucket);
    const auto add_one = [&] {
      Order::add_one(one);
      if (&other != &one) Order::add_one(other);
    };
    const uint64_t word = word_at(from);
    add_one();
    store(from, 0);
    store(to, word);
    add_one();
    ++held_->stats.kicks;
  }
  // Walks from a full bucket to a free slot, then brings the hole back; where it is then.
  std::optional<Place> make_room(uint64_t bucket) const {
    struct Hop {
      Place place;
      uint64_t word;
    };
    std::array<Hop, kStepsMax> hops;
    size_t length = 0;
    std::optional<Place> hole;
    while (!(hole = free_slot(bucket))) {
      if (length == kStepsMax) return std::nullopt;
      const Place victim{bucket, static_cast<unsigned>(held_->random.below(kSlots))};
      hops[length++] = {victim, word_at(victim)};
      const Pair pair = pair_of(key_in(hops[length - 1].word));
      bucket = pair.first == bucket ? pair.second : pair.first;
    }
    for (; length > 0; --length) {
      const Hop& hop = hops[length - 1];
      if (word_at(hop.place) != hop.word) return std::nullopt;  // the walk crossed itself
      move(hop.place, *hole);
      hole = hop.place;
    }
    return hole;
  }

  std::shared_ptr<Held> held_;
  Bucket* buckets_;
  uint64_t bucket_count_;
};

}  // namespace roost::lab
