// The exact-match cache: the answer of a packet whose fields are all the same.
//
// An entry a packet's fields, found by a digest of 64 bits in a flow table, and compared in full.
// Where two packets have one digest, the later replaces the earlier: it is only a cache.
//
// When all entries are taken, a hand goes round them and replaces the first that had no hit since
// it came by last. So packets that come once, however many, replace each other first.
//
// An entry says which megaflow gave the answer, by its number and stamp, or else which rules were
// in force. It answers only while that megaflow lives, or while no rule has changed: nothing has to
// be searched for in the cache when rules do.
//
// I1 Each live entry is found by its digest, and no two share one.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "roost/classify/masked_table.h"
#include "roost/classify/megaflow_cache.h"
#include "roost/table/flow_table.h"

namespace roost::classify {

// Where a packet's answer is from.
struct AnswerSource {
  RuleIndex rule = kNoRule;
  MegaflowIndex megaflow = kNoMegaflow;  // kNoMegaflow: from the rules themselves
  uint64_t stamp = 0;  // the megaflow's, or the number of changes of rules there have been
};

class ExactMatchCache {
 public:
  // Errors: memory unavailable. `entries` is at least 1.
  [[nodiscard]] static Result<ExactMatchCache> create(uint32_t entries, uint64_t hash_seed);

  // The digests of packets[lane] for these lanes, which the calls below take.
  void digest(const PacketFields* packets, LaneMask lanes, uint64_t* digests) const {
    for (const unsigned lane : lanes) digests[lane] = digest_(packets[lane]);
  }

  // Finds the entries of these lanes for which is_valid(source), and returns the lanes found.
  template <class IsValid>
  [[nodiscard]] LaneMask lookup(const PacketFields* packets, const uint64_t* digests,
                                LaneMask lanes, AnswerSource* found, IsValid&& is_valid) {
    std::array<uint32_t, kLanesMax> numbers;
    LaneMask hits = lookup_numbers(digests, lanes, numbers.data());
    for (const unsigned lane : hits) {
      Entry& entry = entries_[numbers[lane]];
      if (entry.fields == packets[lane] && is_valid(entry.source)) {
        entry.had_hit = true;
        found[lane] = entry.source;
      } else {
        hits = hits - LaneMask::of(lane);
      }
    }
    return hits;
  }

  // Of one packet, valid or not. Counts no hit.
  [[nodiscard]] std::optional<AnswerSource> find(const PacketFields& packet) {
    const uint32_t* there = table_.find(Key{digest_(packet)});
    if (there == nullptr || entries_[*there].fields != packet) return std::nullopt;
    return entries_[*there].source;
  }

  // Keeps an answer.
  void keep(const PacketFields& packet, uint64_t digest, const AnswerSource& source);

  [[nodiscard]] uint64_t size() const { return table_.size(); }
  [[nodiscard]] uint64_t memory_bytes() const {
    return table_.memory_bytes() + entries_.capacity() * sizeof(Entry);
  }
  // Checks I1: what is wrong, or nothing. Time linear in the entries.
  [[nodiscard]] std::optional<std::string> audit();

 private:
  using Key = std::array<uint64_t, 1>;
  using Table = FlowTable<Key, uint32_t>;
  struct Entry {
    PacketFields fields{};
    uint64_t digest = 0;
    AnswerSource source{};
    bool is_live = false;
    bool had_hit = false;
  };

  ExactMatchCache(uint32_t entries, uint64_t hash_seed, Table table)
      : table_(std::move(table)), digest_(hash_seed), entries_(entries) {}

  [[nodiscard]] LaneMask lookup_numbers(const uint64_t* digests, LaneMask lanes,
                                        uint32_t* numbers) const;
  // A place without an entry.
  [[nodiscard]] uint32_t make_room();

  Table table_;
  FieldDigest digest_;
  std::vector<Entry> entries_;
  uint32_t hand_ = 0;
};

}  // namespace roost::classify
