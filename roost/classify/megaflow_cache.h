// Megaflows: all packets that agree in what a search looked at have the search's answer.
//
// A megaflow's mask is the union of the masks that its search looked at, and its value one packet's
// bits under it. Megaflows are disjoint: the first that matches is the answer, and subtables may be
// looked at in any order; those with most hits come first.
//
// Why disjoint. A search looks at exactly the subtables whose bound is at least the winner's rank.
// Bounds only rise until tighten() (rule_table.h), so while a packet's winner stays, a search for
// it looks at no less than before. Let a packet be in an old megaflow and in a new one. The winner
// is that of both, and has been ever since the old one came, so the new mask has all bits of the
// old one. Then the packet that made the new megaflow is in the old one, too, which would have
// answered it. tighten() comes with clear().
//
// A rule that is added removes the megaflows that it overlaps and whose winner it beats; one that
// is erased, those that lead to it. A megaflow without hits for some ticks leaves. When there are
// too many megaflows or masks, an answer is not kept, and counted as overflow.
//
// I1 A live megaflow is found by its value, and stands in the subtable of its mask.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roost/classify/masked_table.h"
#include "roost/classify/rule_table.h"
#include "roost/expiry/tick.h"

namespace roost::classify {

using MegaflowIndex = uint32_t;
inline constexpr MegaflowIndex kNoMegaflow = UINT32_MAX;

class MegaflowCache {
 public:
  struct Config {
    uint32_t megaflows_max = 32'768;
    uint32_t masks_max = 4'096;  // as many as rules may make
    TickCount idle_ticks = 10;
    HashConfig hashing{};
  };
  // What a hit reads and writes. Values stand apart, so that more of these are in a cache.
  struct Megaflow {
    Tick last_hit{};
    RuleIndex rule = kNoRule;
    uint32_t subtable = kNoSubtable;  // kNoSubtable: not live
  };

  explicit MegaflowCache(const Config& config) : config_(config) {}

  // Finds the megaflows of packets[lane] for these lanes, and returns those found; adds to
  // `lookups` a packet and subtable each.
  [[nodiscard]] LaneMask lookup(PacketLanes packets, LaneMask lanes, MegaflowIndex* found,
                                uint64_t& lookups);

  // Keeps an answer; of a packet that a megaflow has already, that one. kNoMegaflow: no room.
  [[nodiscard]] MegaflowIndex keep(const PacketFields& packet, const PacketFields& mask,
                                   RuleIndex rule);

  [[nodiscard]] const Megaflow& at(MegaflowIndex index) const { return megaflows_[index]; }
  [[nodiscard]] const PacketFields& mask_of(MegaflowIndex index) const {
    return subtables_[megaflows_[index].subtable]->table.mask();
  }
  // Of one packet; kNoMegaflow if it is in none. Counts no hit.
  [[nodiscard]] MegaflowIndex find(const PacketFields& packet);
  // Whether a packet is in the megaflow of this number, of now or before.
  [[nodiscard]] bool has(MegaflowIndex index, const PacketFields& packet) const {
    return is_live(index) &&
           subtables_[megaflows_[index].subtable]->words.agree(packet, values_[index]);
  }
  // That it answered a packet, found by another layer. Writes at most once a tick.
  void touch(MegaflowIndex index) {
    if (megaflows_[index].last_hit < now_) megaflows_[index].last_hit = now_;
  }

  // Remove what a change of rules makes wrong; return how many. Time linear in the megaflows.
  uint64_t remove_beaten_by(RuleIndex added, const RuleTable& rules);
  uint64_t remove_those_of(RuleIndex erased);
  void clear();

  void advance(Tick now) { now_ = now; }
  // Goes round the megaflows once a tick, `budget` of them a call: removes those that had no hit
  // for too long, and drops subtables without any at the end. Returns how many it removed.
  uint64_t remove_idle(size_t budget);

  [[nodiscard]] uint64_t size() const { return megaflows_.size() - free_.size(); }
  [[nodiscard]] size_t mask_count() const { return order_.size(); }
  [[nodiscard]] uint64_t memory_bytes() const;
  // Calls visit(mask, value, rule) for each.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (MegaflowIndex index = 0; index < megaflows_.size(); ++index) {
      if (is_live(index)) visit(mask_of(index), values_[index], megaflows_[index].rule);
    }
  }
  // Checks I1: what is wrong, or nothing. Time linear in the megaflows.
  [[nodiscard]] std::optional<std::string> audit();

 private:
  static constexpr uint32_t kRankingPeriod = 256;  // batches
  static constexpr uint32_t kNoSubtable = UINT32_MAX;

  struct Subtable {
    MaskedTable table;
    MaskWords words;
    uint64_t hits = 0;  // recent ones count more
    uint64_t size = 0;
  };

  [[nodiscard]] bool is_live(MegaflowIndex index) const {
    return megaflows_[index].subtable != kNoSubtable;
  }
  [[nodiscard]] std::optional<uint32_t> subtable_for(const PacketFields& mask);
  void remove(MegaflowIndex index);
  template <class Predicate>
  uint64_t remove_if(Predicate&& predicate);
  // Puts the subtables with most hits first.
  void rank_subtables();

  Config config_;
  Tick now_{};
  std::vector<Megaflow> megaflows_;
  std::vector<PacketFields> values_;  // of each
  std::vector<MegaflowIndex> free_;
  std::vector<std::unique_ptr<Subtable>> subtables_;  // by number; nullptr where one was dropped
  std::vector<uint32_t> order_;                       // in which they are looked at
  uint32_t batches_ = 0;
  size_t sweep_at_ = 0;          // zero: between two sweeps
  std::optional<Tick> swept_{};  // when the last sweep began
};

}  // namespace roost::classify
