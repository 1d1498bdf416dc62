// The packet classifier: which of many rules, with masks and priorities, a packet gets.
//
// Design, the simplest first; each layer answers what it knows and hands the rest down:
//
//   layer               lookups of a packet in a flow table       why
//   rules               one a subtable, ended early by priority   the truth (rule_table.h)
//   megaflows           one, or a few                             all packets that a search cannot
//                                                                 tell apart (megaflow_cache.h)
//   exact-match cache   one                                       packets of a flow
//                                                                 (exact_match_cache.h)
//
// Every layer but the rules can be left out, and the answers are the same. The flow register
// (flow_register.h) takes the exact-match cache out of use while there are too many flows for it,
// or while packets take too few lookups for it to save any.
//
//   auto classifier = Classifier::create({}).value();
//   RuleId id = classifier.add({.mask = mask, .value = value, .priority = 10, .action =
//   7}).value(); classifier.classify(packets, bytes, answers);   // answers[i].action
//
// A change of rules is whole when add() or erase() returns: packets classified before get the
// answer of the old rules, those after that of the new ones, from every layer.
//
// Threads: one at a time. Workers share nothing: each has its own, and changes are made to each
// between its batches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "roost/classify/classifier_counters.h"
#include "roost/classify/exact_match_cache.h"
#include "roost/classify/flow_register.h"
#include "roost/classify/megaflow_cache.h"
#include "roost/classify/rule_table.h"
#include "roost/expiry/tick.h"

namespace roost::classify {

struct ClassifierConfig {
  uint32_t cache_entries = 131'072;  // of the exact-match cache; 0: without
  bool has_megaflows = true;
  bool is_cache_always_used = false;                    // without a flow register
  std::optional<FlowRegister::Config> flow_register{};  // else one for a cache of so many entries
  uint32_t megaflows_max = 32'768;
  uint32_t megaflow_masks_max = 4'096;  // as many as rules may make
  TickCount megaflow_idle_ticks = 10;
  uint32_t rules_max = 1 << 20;
  uint32_t masks_max = 4'096;           // different ones of rules
  uint32_t action_without_rule = 0;     // of packets that no rule matches
  std::optional<uint64_t> hash_seed{};  // random when absent
  unsigned digest_bits = 64;            // HashConfig::digest_bits
};

// How a packet's answer came about, for people to read.
struct Explanation {
  struct Step {
    PacketFields mask;         // of the subtable that was looked at
    RuleIndex rule = kNoRule;  // the highest of its rules that match
  };
  std::vector<Step> steps;  // in the order of the search
  Answer answer;
  bool is_cached = false;                     // the exact-match cache would answer
  std::optional<PacketFields> megaflow_mask;  // of the megaflow that it is in
  PacketFields looked_at;                     // what the answer depends on
};

class Classifier {
 public:
  // Errors: the flow register's numbers contradict each other, memory unavailable.
  [[nodiscard]] static Result<Classifier> create(const ClassifierConfig& config);

  // Errors, and nothing has changed: see RuleTable::add. Time linear in the megaflows.
  [[nodiscard]] Result<RuleId> add(const Rule& rule);
  // False if there is no such rule any more. Time linear in the megaflows.
  bool erase(RuleId id);
  // nullptr if there is no such rule any more.
  [[nodiscard]] const Rule* find(RuleId id) const { return rules_.find(id); }
  // Of a rule that is there: what it has answered, from whichever layer.
  [[nodiscard]] RuleTable::Counts counts(RuleId id) const { return rules_.counts(id); }

  // Answers packets, any number of them, side by side or where they stand; `bytes` is how long each
  // is, for counts. An answer's rule is named by id_of(), until rules change.
  void classify(std::span<const PacketFields* const> packets, std::span<const uint32_t> bytes,
                std::span<Answer> answers);
  void classify(std::span<const PacketFields> packets, std::span<const uint32_t> bytes,
                std::span<Answer> answers);
  [[nodiscard]] RuleId id_of(RuleIndex rule) const { return rules_.id_of(rule); }

  // The answer that a packet would get, and why. Counts nothing, changes nothing.
  [[nodiscard]] Explanation explain(const PacketFields& packet);

  // Moves time forward: how long megaflows go without hits.
  void advance(Tick now);
  // Removes idle megaflows among the next `budget`. Once in megaflow_idle_ticks, if rules were
  // erased, it also tightens the search (RuleTable::tighten), which empties the megaflows.
  void maintain(size_t budget);

  [[nodiscard]] const ClassifierCounters& counters() const { return counters_; }
  [[nodiscard]] uint64_t rule_count() const { return rules_.size(); }
  // Masks of rules, in the order of the search, and how many rules each has.
  [[nodiscard]] size_t mask_count() const { return rules_.subtable_count(); }
  [[nodiscard]] const PacketFields& mask_at(size_t place) const { return rules_.mask_at(place); }
  [[nodiscard]] size_t rules_at(size_t place) const { return rules_.rules_at(place); }
  [[nodiscard]] uint64_t megaflow_count() const { return megaflows_.size(); }
  [[nodiscard]] size_t megaflow_mask_count() const { return megaflows_.mask_count(); }
  [[nodiscard]] bool is_cache_used() const;
  [[nodiscard]] FlowRegister::Estimate active_flows() const;
  [[nodiscard]] uint64_t memory_bytes() const;

  // For tests that look at every megaflow.
  [[nodiscard]] const MegaflowCache& megaflows() const { return megaflows_; }
  // Checks the invariants of all layers, and that counters add up. Time linear in what they hold.
  [[nodiscard]] std::optional<std::string> audit();

 private:
  struct Group;

  Classifier(const ClassifierConfig& config, const HashConfig& hashing,
             std::optional<ExactMatchCache> cache);

  void classify_group(Group& group);
  void look_into_cache(Group& group);
  void look_into_megaflows(Group& group);
  void search_rules(Group& group);
  void keep_in_cache(const Group& group, LaneMask lanes);
  [[nodiscard]] bool is_valid(const AnswerSource& source, const PacketFields& packet) const;
  void rules_changed(uint64_t megaflows_removed);
  void tighten();

  ClassifierConfig config_;
  RuleTable rules_;
  MegaflowCache megaflows_;
  std::optional<ExactMatchCache> cache_;
  std::optional<FlowRegister> register_;
  ClassifierCounters counters_;
  uint64_t rule_changes_ = 0;
  // Of the packets at hand. Kept, because clearing them for each group takes long.
  std::array<uint64_t, kLanesMax> digests_{};
  std::array<AnswerSource, kLanesMax> sources_{};
  Tick now_{};
  Tick tightened_{};
};

}  // namespace roost::classify
