// The batch of an oracle: how lines that are known beforehand are asked for and read, in the order
// and the overlap of our table's lookups.
//
// Groups of 32 lanes go through stages; each touches only what the stage before it asked for. In a
// call of several groups they follow each other a stage apart; where the caller names the next
// keys, their first lines are asked for before this call's last ones are read.
//
// An `Oracle` has
//   KeyType, ValueType, Place
//   kLinesOnHit                     1 or 2
//   place_of(const KeyType&)        where a key is, as far as that is known without memory
//   first_line(Place)               the line where its lookup begins
//   end_of(Place)                   reads that line; where the value is, and whether there is one
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/isa/prefetch.h"

namespace roost::lab {

// Where an oracle's lookup ends. `value` can be read also where there is none.
struct OracleEnd {
  const std::byte* value;
  uint32_t is_hit;  // 0 or 1
};

template <class Oracle, PrefetchHint kHint>
class OracleLookup {
  static constexpr size_t kGroup = 32;
  static constexpr bool kHasSecondLine = Oracle::kLinesOnHit == 2;

 public:
  using Keys = std::span<const typename Oracle::KeyType>;
  using Values = std::span<typename Oracle::ValueType>;

  // What a group carries from stage to stage.
  struct Group {
    std::array<typename Oracle::Place, kGroup> places;
    std::array<const std::byte*, kGroup> values;
    uint32_t hits;
  };

  // The next call's keys, and the group that their first 32 are started in.
  struct Next {
    Keys keys;
    Group* group;
  };

  explicit OracleLookup(const Oracle& oracle) : oracle_(&oracle) {}

  // `started` is the group of the first 32 keys if they were started before, else null.
  [[gnu::noinline]] void run(Keys keys, const Group* started, Next next, Values answers,
                             HitWords hits) const {
    constexpr size_t kLast = kHasSecondLine ? 2 : 1;
    const size_t group_count = (keys.size() + kGroup - 1) / kGroup;
    std::array<Group, kLast + 1> groups;
    if (started != nullptr) groups[0].places = started->places;
    for (size_t turn = 0; turn < group_count + kLast; ++turn) {
      if (kHasSecondLine && turn >= 1 && turn - 1 < group_count)
        match(lanes_of(keys, turn - 1).size(), groups[(turn - 1) % groups.size()]);
      if (turn < group_count && (turn != 0 || started == nullptr))
        start(lanes_of(keys, turn), groups[turn % groups.size()]);
      if (turn == group_count && !next.keys.empty()) start(lanes_of(next.keys, 0), *next.group);
      if (turn < kLast) continue;
      Group& last = groups[(turn - kLast) % groups.size()];
      if constexpr (!kHasSecondLine) match(lanes_of(keys, turn - kLast).size(), last);
      finish((turn - kLast) * kGroup, last, answers, hits);
    }
  }

 private:
  static Keys lanes_of(Keys keys, size_t group) {
    return keys.subspan(group * kGroup, std::min(kGroup, keys.size() - group * kGroup));
  }

  // Asks for the lines where the lanes begin.
  [[gnu::always_inline]] void start(Keys keys, Group& group) const {
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      group.places[lane] = oracle_->place_of(keys[lane]);
      prefetch(kHint, oracle_->first_line(group.places[lane]));
    }
  }

  // Reads them; asks for the line of the value, if it is another one. A miss asks for the line that
  // is there, by arithmetic, so that no branch guesses.
  [[gnu::always_inline]] void match(size_t lane_count, Group& group) const {
    uint32_t hits = 0;
    for (size_t lane = 0; lane < lane_count; ++lane) {
      const OracleEnd end = oracle_->end_of(group.places[lane]);
      group.values[lane] = end.value;
      if constexpr (kHasSecondLine) {
        const std::byte* line = oracle_->first_line(group.places[lane]);
        prefetch(kHint, line + ((end.value - line) & (0 - ptrdiff_t{end.is_hit})));
      }
      hits |= end.is_hit << lane;
    }
    group.hits = hits;
  }

  [[gnu::always_inline]] void finish(size_t first, const Group& group, Values answers,
                                     HitWords hits) const {
    for (uint32_t lanes = group.hits; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(lanes));
      std::memcpy(&answers[first + lane], group.values[lane], sizeof(answers[first]));
    }
    hits.write_group(first, group.hits);
  }

  const Oracle* oracle_;
};

// An oracle that is told the next call's keys.
template <class Oracle, PrefetchHint kHint>
class OracleAhead {
  using Lookup = OracleLookup<Oracle, kHint>;

 public:
  using KeyType = typename Oracle::KeyType;
  using ValueType = typename Oracle::ValueType;
  using Answer = ValueType;
  static constexpr std::string_view kName = Oracle::kName;

  explicit OracleAhead(const Oracle& oracle) : lookup_(oracle) {}

  // `next_keys` is empty in the last call of a stream.
  void lookup(std::span<const KeyType> keys, std::span<const KeyType> next_keys,
              std::span<ValueType> answers, HitWords hits) {
    typename Lookup::Group next;
    lookup_.run(keys, is_started_ ? &started_ : nullptr, {next_keys, &next}, answers, hits);
    is_started_ = !next_keys.empty();
    if (is_started_) started_.places = next.places;
  }
  static bool is_answer(const ValueType& answer, const ValueType& value) { return answer == value; }
  static uint64_t answer_word(const ValueType& answer) { return word_of(answer); }

 private:
  Lookup lookup_;
  typename Lookup::Group started_;
  bool is_started_ = false;
};

}  // namespace roost::lab
