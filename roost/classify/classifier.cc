// How the layers go together: see classifier.h.
#include "roost/classify/classifier.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "roost/base/assert.h"
#include "roost/hash/random_seed.h"

namespace roost::classify {

// Packets that go through the layers together.
struct Classifier::Group {
  PacketLanes packets;
  LaneMask lanes;  // all of them
  LaneMask open;   // those without an answer
  bool uses_cache = false;
};

Result<Classifier> Classifier::create(const ClassifierConfig& config) {
  if (config.flow_register) {
    const FlowRegister::Config& flows = *config.flow_register;
    if (!std::has_single_bit(flows.bits) || flows.bits < 32 || flows.window_packets == 0 ||
        flows.flows_on >= flows.flows_off || flows.lookups_off >= flows.lookups_on) {
      return Error{
          "the flow register needs a power of two of at least 32 bits, a window of at "
          "least one packet, and fewer flows and more lookups to switch on than to switch off"};
    }
  }
  const HashConfig hashing{.seed = config.hash_seed ? *config.hash_seed : random_seed(),
                           .digest_bits = config.digest_bits};
  std::optional<ExactMatchCache> cache;
  if (config.cache_entries != 0) {
    Result<ExactMatchCache> made = ExactMatchCache::create(config.cache_entries, hashing);
    if (!made) return made.error();
    cache = std::move(made).value();
  }
  return Classifier(config, hashing, std::move(cache));
}

Classifier::Classifier(const ClassifierConfig& config, const HashConfig& hashing,
                       std::optional<ExactMatchCache> cache)
    : config_(config),
      rules_(
          {.rules_max = config.rules_max, .subtables_max = config.masks_max, .hashing = hashing}),
      megaflows_({.megaflows_max = config.megaflows_max,
                  .masks_max = config.megaflow_masks_max,
                  .idle_ticks = config.megaflow_idle_ticks,
                  .hashing = hashing}),
      cache_(std::move(cache)) {
  if (cache_ && !config.is_cache_always_used) {
    register_.emplace(
        config.flow_register.value_or(FlowRegister::Config::of_cache(config.cache_entries)));
  }
}

void Classifier::rules_changed(uint64_t megaflows_removed) {
  counters_.megaflows_removed += megaflows_removed;
  ++rule_changes_;
}

Result<RuleId> Classifier::add(const Rule& rule) {
  Result<RuleId> id = rules_.add(rule);
  if (!id && rules_.is_loose()) {
    // Subtables that became empty may stand in the way.
    tighten();
    id = rules_.add(rule);
  }
  if (!id) return id;
  rules_changed(megaflows_.remove_beaten_by(id.value().index, rules_));
  ++counters_.rules_added;
  return id;
}

bool Classifier::erase(RuleId id) {
  if (!rules_.erase(id)) return false;
  rules_changed(megaflows_.remove_those_of(id.index));
  ++counters_.rules_erased;
  return true;
}

void Classifier::tighten() {
  rules_.tighten();
  counters_.megaflows_removed += megaflows_.size();
  megaflows_.clear();
  tightened_ = now_;
}

bool Classifier::is_valid(const AnswerSource& source, const PacketFields& packet) const {
  return source.megaflow == kNoMegaflow ? source.rule_changes == rule_changes_
                                        : megaflows_.has(source.megaflow, packet);
}

void Classifier::look_into_cache(Group& group) {
  const bool is_counting = register_ && register_->is_counting();
  group.uses_cache = is_cache_used() && !(register_ && register_->is_sampling());
  if (!cache_ || (!group.uses_cache && !is_counting)) return;
  cache_->digest(group.packets, group.lanes, digests_.data());
  if (is_counting) {
    for (const unsigned lane : group.lanes) register_->note(digests_[lane]);
  }
  if (!group.uses_cache) return;
  const LaneMask hits = cache_->lookup(
      group.packets, digests_.data(), group.open, [&](unsigned lane, const AnswerSource& source) {
        if (!is_valid(source, *group.packets[lane])) return false;
        sources_[lane] = source;
        if (source.megaflow != kNoMegaflow) {
          sources_[lane].rule = megaflows_.at(source.megaflow).rule;
          megaflows_.touch(source.megaflow);
        }
        return true;
      });
  counters_.cache_lookups += group.lanes.count();
  counters_.cache_hits += hits.count();
  group.open = group.open - hits;
}

void Classifier::keep_in_cache(const Group& group, LaneMask lanes) {
  if (!cache_ || !group.uses_cache) return;
  for (const unsigned lane : lanes) {
    cache_->keep(*group.packets[lane], digests_[lane], sources_[lane]);
  }
  counters_.cache_kept += lanes.count();
}

void Classifier::look_into_megaflows(Group& group) {
  std::array<MegaflowIndex, kLanesMax> found;
  const LaneMask hits =
      megaflows_.lookup(group.packets, group.open, found.data(), counters_.megaflow_lookups);
  for (const unsigned lane : hits) {
    sources_[lane] = {.rule = megaflows_.at(found[lane]).rule, .megaflow = found[lane]};
  }
  counters_.megaflow_hits += hits.count();
  group.open = group.open - hits;
  keep_in_cache(group, hits);
}

void Classifier::search_rules(Group& group) {
  std::array<Found, kLanesMax> found;
  counters_.rule_lookups += rules_.search(group.packets, group.open, found.data());
  for (const unsigned lane : group.open) {
    AnswerSource& source = sources_[lane];
    source = {.rule = found[lane].rule, .rule_changes = rule_changes_};
    ++(source.rule == kNoRule ? counters_.unmatched : counters_.rule_hits);
    if (!config_.has_megaflows) continue;
    const uint64_t live = megaflows_.size();
    const MegaflowIndex kept =
        megaflows_.keep(*group.packets[lane], rules_.looked_at(found[lane].depth), source.rule);
    if (kept == kNoMegaflow) {
      ++counters_.megaflow_overflows;
      continue;
    }
    source.megaflow = kept;
    counters_.megaflows_created += megaflows_.size() - live;
  }
  keep_in_cache(group, group.open);
  group.open = {};
}

void Classifier::classify_group(Group& group) {
  const uint64_t lookups = counters_.megaflow_lookups + counters_.rule_lookups;
  look_into_cache(group);
  if (!group.open.empty() && config_.has_megaflows) look_into_megaflows(group);
  if (!group.open.empty()) search_rules(group);
  const auto packets = group.lanes.count();
  counters_.packets += packets;
  if (!register_) return;
  const uint64_t taken = counters_.megaflow_lookups + counters_.rule_lookups - lookups;
  const bool is_past_cache = !group.uses_cache;
  if (register_->end_batch(packets, is_past_cache ? packets : 0, is_past_cache ? taken : 0))
    ++counters_.cache_switches;
}

void Classifier::classify(std::span<const PacketFields* const> packets,
                          std::span<const uint32_t> bytes, std::span<Answer> answers) {
  ROOST_ASSERT(bytes.size() >= packets.size() && answers.size() >= packets.size());
  for (size_t first = 0; first < packets.size(); first += kLanesMax) {
    const size_t count = std::min(kLanesMax, packets.size() - first);
    const LaneMask lanes{~uint32_t{0} >> (kLanesMax - count)};
    Group group{.packets = &packets[first], .lanes = lanes, .open = lanes};
    classify_group(group);
    for (size_t lane = 0; lane < count; ++lane) {
      const RuleIndex rule = sources_[lane].rule;
      if (rule == kNoRule) {
        answers[first + lane] = {.action = config_.action_without_rule};
        continue;
      }
      answers[first + lane] = {rule, rules_.answer(rule, bytes[first + lane])};
    }
  }
}

void Classifier::classify(std::span<const PacketFields> packets, std::span<const uint32_t> bytes,
                          std::span<Answer> answers) {
  ROOST_ASSERT(bytes.size() >= packets.size() && answers.size() >= packets.size());
  std::array<const PacketFields*, kLanesMax> lanes;
  for (size_t first = 0; first < packets.size(); first += kLanesMax) {
    const size_t count = std::min(kLanesMax, packets.size() - first);
    for (size_t lane = 0; lane < count; ++lane) lanes[lane] = &packets[first + lane];
    classify(std::span<const PacketFields* const>(lanes).first(count), bytes.subspan(first, count),
             answers.subspan(first, count));
  }
}

Explanation Classifier::explain(const PacketFields& packet) {
  Explanation told;
  Found found;
  const PacketFields* const lane = &packet;
  rules_.search(&lane, LaneMask::of(0), &found);
  for (uint32_t place = 0; place < found.depth; ++place) {
    told.steps.push_back({rules_.mask_at(place), rules_.match_at(place, packet)});
  }
  told.answer.rule = found.rule;
  told.answer.action =
      found.rule == kNoRule ? config_.action_without_rule : rules_.rule(found.rule).action;
  told.looked_at = rules_.looked_at(found.depth);
  if (const MegaflowIndex megaflow = megaflows_.find(packet); megaflow != kNoMegaflow) {
    told.megaflow_mask = megaflows_.mask_of(megaflow);
  }
  if (cache_ && is_cache_used()) {
    const std::optional<AnswerSource> source = cache_->find(packet);
    told.is_cached = source && is_valid(*source, packet);
  }
  return told;
}

void Classifier::advance(Tick now) {
  ROOST_DEBUG_ASSERT(now >= now_);
  now_ = now;
  megaflows_.advance(now);
}

void Classifier::maintain(size_t budget) {
  counters_.megaflows_idle += megaflows_.remove_idle(budget);
  if (rules_.is_loose() && now_.count >= tightened_.count + config_.megaflow_idle_ticks) tighten();
}

bool Classifier::is_cache_used() const {
  return cache_ && (!register_ || register_->is_cache_used());
}

FlowRegister::Estimate Classifier::active_flows() const {
  return register_ ? register_->last_window() : FlowRegister::Estimate{};
}

uint64_t Classifier::memory_bytes() const {
  return rules_.memory_bytes() + megaflows_.memory_bytes() + (cache_ ? cache_->memory_bytes() : 0);
}

std::optional<std::string> Classifier::audit() {
  if (auto wrong = rules_.audit()) return wrong;
  if (auto wrong = megaflows_.audit()) return wrong;
  if (cache_) {
    if (auto wrong = cache_->audit()) return wrong;
  }
  const ClassifierCounters& c = counters_;
  if (c.packets != c.cache_hits + c.megaflow_hits + c.rule_hits + c.unmatched) {
    return "a packet was answered by no layer, or by two";
  }
  if (c.megaflows_created != c.megaflows_removed + c.megaflows_idle + megaflows_.size()) {
    return "a megaflow is neither removed, idle nor live";
  }
  if (c.rules_added != c.rules_erased + rules_.size()) return "a rule is neither erased nor live";
  return std::nullopt;
}

}  // namespace roost::classify
