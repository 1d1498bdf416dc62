// All rules: tuple space search, one subtable a mask, the highest rank wins.
//
// A rule's rank is a number: its priority, and below it how early the rule was added. Ranks differ,
// so "highest priority, the first added of equals" is one comparison.
//
// Subtables stand in the order of their bounds, the highest first; a bound is a rank that no rule
// of the subtable exceeds. A search ends for a packet as soon as what it found exceeds the next
// bound. How far it came, its depth, says all that it looked at: the union of the masks of so many
// subtables, the megaflow's mask. As that is one of a chain of unions, rules of S masks can make
// at most S megaflow masks, whatever packets somebody sends.
//
// Of an erased rule the bound stays, and so does a subtable that became empty, until tighten().
// Because of that, packets whose winner stays look at no less after a change than before, unless
// tighten() says otherwise; the megaflow cache relies on it (megaflow_cache.h).
//
// Rules of one mask and value stand in a list, the highest first. In a wide subtable a key is a
// digest, so a key leads to a list of such lists.
//
// I1 Each live rule is in the list of its value, in falling order of ranks; lists' heads are found
//    by their values.
// I2 Bounds fall, and each is at least the highest rank of its subtable.
// I3 unions_[i] is the union of the masks of the first i + 1 subtables.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "roost/classify/masked_table.h"
#include "roost/classify/rule.h"

namespace roost::classify {

// What a search found out about a packet.
struct Found {
  RuleIndex rule = kNoRule;
  uint32_t depth = 0;  // subtables that its answer depends on: the first so many
};

class RuleTable {
 public:
  struct Config {
    uint32_t rules_max = 1 << 20;
    uint32_t subtables_max = 4'096;
    HashConfig hashing{};
  };
  struct Counts {
    uint64_t packets = 0;
    uint64_t bytes = 0;
  };

  explicit RuleTable(const Config& config) : config_(config) {}

  // Errors, and nothing has changed: a bit of the value outside its mask, too many rules, too many
  // masks, memory unavailable. Logarithmic time in the rules, linear in those of the same mask and
  // value, and linear in the masks if the order of subtables changes.
  [[nodiscard]] Result<RuleId> add(const Rule& rule);
  // False if there is no such rule any more.
  [[nodiscard]] bool erase(RuleId id);

  // nullptr if there is no such rule any more.
  [[nodiscard]] const Rule* find(RuleId id) const;
  [[nodiscard]] Counts counts(RuleId id) const { return outcomes_[id.index].counts; }
  // What an answer's rule is called. The rule must be live.
  [[nodiscard]] RuleId id_of(RuleIndex rule) const { return {rule, slots_[rule].generation}; }

  // Of live rules.
  [[nodiscard]] const Rule& rule(RuleIndex rule) const { return slots_[rule].rule; }
  [[nodiscard]] uint64_t rank(RuleIndex rule) const { return slots_[rule].rank; }
  // Counts a packet that a live rule answers; the rule's action.
  uint32_t answer(RuleIndex rule, uint64_t bytes) {
    Outcome& outcome = outcomes_[rule];
    ++outcome.counts.packets;
    outcome.counts.bytes += bytes;
    return outcome.action;
  }

  // Finds the winners of packets[lane] for these lanes. Returns how many subtable lookups it took,
  // a packet and subtable each.
  uint64_t search(PacketLanes packets, LaneMask lanes, Found* found) const;

  // The fields that the answer of a search of this depth depends on.
  [[nodiscard]] const PacketFields& looked_at(uint32_t depth) const {
    return depth == 0 ? nothing_ : unions_[depth - 1];
  }

  // Whether bounds could be lower, or subtables are empty.
  [[nodiscard]] bool is_loose() const { return is_loose_; }
  // Lowers bounds and drops empty subtables. Time linear in the masks.
  void tighten();

  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] size_t subtable_count() const { return order_.size(); }
  // The mask of the subtable that is searched at this place.
  [[nodiscard]] const PacketFields& mask_at(size_t place) const {
    return order_[place]->table.mask();
  }
  [[nodiscard]] size_t rules_at(size_t place) const { return order_[place]->ranks.size(); }
  // The highest of its rules that match a packet.
  [[nodiscard]] RuleIndex match_at(size_t place, const PacketFields& packet) const;
  [[nodiscard]] uint64_t memory_bytes() const;

  // Checks I1 to I3: what is wrong, or nothing. Time linear in the rules.
  [[nodiscard]] std::optional<std::string> audit() const;

 private:
  static constexpr unsigned kSequenceBits = 48;

  struct Subtable {
    MaskedTable table;
    uint64_t bound = 0;
    std::set<uint64_t> ranks{};  // of its rules
  };
  struct Slot {
    uint64_t rank = 0;
    Rule rule{};
    RuleIndex lower = kNoRule;      // the next rule of the same mask and value
    RuleIndex other_key = kNoRule;  // of a head: the head of another value of the same digest
    uint32_t generation = 0;
    bool is_live = false;
  };

  // What answering a packet reads and writes of a rule, apart from the rest, so that the outcomes
  // of many rules are in a cache.
  struct Outcome {
    Counts counts{};
    uint32_t action = 0;
  };

  [[nodiscard]] Slot* live_slot(RuleId id);
  [[nodiscard]] Result<Subtable*> subtable_for(const PacketFields& mask);
  // The head of a packet's list, of those that the key led to; kNoRule if it was another value's.
  [[nodiscard]] RuleIndex head_for(const Subtable& subtable, RuleIndex first,
                                   const PacketFields& packet) const;
  [[nodiscard]] RuleIndex take_slot();
  [[nodiscard]] bool link(Subtable& subtable, RuleIndex index);
  void unlink(Subtable& subtable, RuleIndex index);
  // Where a link to this value's head is written: in the table, or in the head of another value.
  [[nodiscard]] RuleIndex* link_to_head(Subtable& subtable, const PacketFields& value);
  void raise_bound(Subtable& subtable, uint64_t rank);
  void rebuild_unions(size_t from);

  Config config_;
  std::vector<Slot> slots_;
  std::vector<Outcome> outcomes_;  // of each
  std::vector<RuleIndex> free_;
  std::map<PacketFields, std::unique_ptr<Subtable>> subtables_;  // by mask
  std::vector<Subtable*> order_;
  std::vector<PacketFields> unions_;
  PacketFields nothing_{};
  uint64_t size_ = 0;
  uint64_t next_sequence_ = 0;
  bool is_loose_ = false;
};

}  // namespace roost::classify
