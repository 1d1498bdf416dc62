// The exact-match cache: which megaflow a flow's packets are in, without a search for it.
//
// An entry a flow, found by a digest of 64 bits of all fields in a flow table. It names a megaflow,
// which says itself whether a packet is in it: so neither two flows of one digest nor a megaflow's
// number that is used again give a wrong answer, and nothing has to be searched for in the cache
// when rules change. An answer that no megaflow has is kept with the fields, compared in full, and
// with how often rules had changed by then: it holds until they change again.
//
// When all entries are taken, a hand goes round them and replaces the first that had no hit since
// it came by last. So packets that come once, however many, replace each other first.
//
// I1 Each live entry is found by its digest, and no two share one.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <cstring>
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
  uint64_t rule_changes = 0;             // then: how many changes of rules there had been
};

class ExactMatchCache {
 public:
  // Errors: memory unavailable. `entries` is at least 1.
  [[nodiscard]] static Result<ExactMatchCache> create(uint32_t entries, const HashConfig& hashing);

  // The digests of packets[lane] for these lanes, which the calls below take.
  void digest(PacketLanes packets, LaneMask lanes, uint64_t* digests) const {
    for (const unsigned lane : lanes) digests[lane] = digest_(*packets[lane]);
  }

  // Finds the entries of these lanes, and returns the lanes for which answers(lane, source).
  template <class Answers>
  [[nodiscard]] LaneMask lookup(PacketLanes packets, const uint64_t* digests, LaneMask lanes,
                                Answers&& answers) {
    std::array<uint32_t, kLanesMax> numbers;
    LaneMask hits = lookup_numbers(digests, lanes, numbers.data());
    for (const unsigned lane : hits) {
      const uint32_t number = numbers[lane];
      Entry& entry = entries_[number];
      if (is_of(number, *packets[lane]) && answers(lane, entry.source)) {
        if (!entry.had_hit) entry.had_hit = true;
      } else {
        hits = hits - LaneMask::of(lane);
      }
    }
    return hits;
  }

  // Of one packet; its megaflow may be another one by now. Counts no hit.
  [[nodiscard]] std::optional<AnswerSource> find(const PacketFields& packet) {
    const uint32_t* there = table_.find(Key{digest_(packet)});
    if (there == nullptr || !is_of(*there, packet)) return std::nullopt;
    return entries_[*there].source;
  }

  // Keeps an answer.
  void keep(const PacketFields& packet, uint64_t digest, const AnswerSource& source);

  [[nodiscard]] uint64_t size() const { return table_.size(); }
  [[nodiscard]] uint64_t memory_bytes() const {
    return table_.memory_bytes() + entries_.size() * sizeof(Entry) +
           fields_.size() * sizeof(PacketFields);
  }
  // Checks I1: what is wrong, or nothing. Time linear in the entries.
  [[nodiscard]] std::optional<std::string> audit();

 private:
  using Key = std::array<uint64_t, 1>;
  // A digest is a hash already.
  struct DigestHash {
    explicit DigestHash(uint64_t /*seed*/) {}
    template <size_t kBytes>
    [[nodiscard]] Hash64 hash(const void* key) const {
      static_assert(kBytes == sizeof(uint64_t));
      Hash64 digest{};
      std::memcpy(&digest.bits, key, kBytes);
      return digest;
    }
  };
  struct Policies : DefaultPolicies {
    using Hash = DigestHash;
  };
  using Table = FlowTable<Key, uint32_t, Policies>;
  struct Entry {
    uint64_t digest = 0;
    AnswerSource source{};
    bool is_live = false;
    bool had_hit = false;
  };

  // Room for all is taken from the system now, so that no packet waits for entries to move; pages
  // that stay unused cost nothing.
  ExactMatchCache(uint32_t entries, const HashConfig& hashing, Table table)
      : table_(std::move(table)), digest_(hashing), entries_max_(entries) {
    entries_.reserve(entries);
    fields_.reserve(entries);
  }

  // Of an answer from the rules, whether it is this packet's; of others the megaflow knows.
  [[nodiscard]] bool is_of(uint32_t number, const PacketFields& packet) const {
    return entries_[number].source.megaflow != kNoMegaflow || fields_[number] == packet;
  }

  [[nodiscard]] LaneMask lookup_numbers(const uint64_t* digests, LaneMask lanes,
                                        uint32_t* numbers) const;
  // A place without an entry.
  [[nodiscard]] uint32_t make_room();

  Table table_;
  FieldDigest digest_;
  uint32_t entries_max_;
  std::vector<Entry> entries_;
  std::vector<PacketFields> fields_;  // of each, if any is from the rules
  uint32_t hand_ = 0;
};

}  // namespace roost::classify
