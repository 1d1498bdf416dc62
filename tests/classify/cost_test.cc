// What loading rules, changing them under traffic and an attacker cost. Times are printed, those of
// this thread's processor, so that others at work do not count; what decides is lookups.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "roost/classify/classifier.h"
#include "roost/traffic/draw.h"
#include "tests/classify/rule_model.h"

namespace roost::classify {
namespace {

constexpr uint64_t kRounds = kIsOptimised ? 40 : 2;
constexpr uint64_t kRules = kIsOptimised ? 100'000 : 2'000;

double seconds_of_this_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Rules about IPv4 flows: prefixes of both addresses, and ports or none.
Rule flow_rule(traffic::Draw& draw) {
  static constexpr std::array<unsigned, 4> kPrefixes = {16, 20, 24, 32};
  Rule rule{.priority = static_cast<uint16_t>(draw.below(1'000)), .action = 1};
  set(rule.mask, Field::kEthType, 0xffff);
  set(rule.mask, Field::kIpv4Src, prefix_mask(Field::kIpv4Src, kPrefixes[draw.below(4)]));
  set(rule.mask, Field::kIpv4Dst, prefix_mask(Field::kIpv4Dst, kPrefixes[draw.below(4)]));
  if (draw.below(2) == 0) set(rule.mask, Field::kTpDst, 0xffff);
  set(rule.value, Field::kEthType, 0x0800);
  set(rule.value, Field::kIpv4Src, 0x0a00'0000 | draw.below(1 << 22));
  set(rule.value, Field::kIpv4Dst, 0xc000'0000 | draw.below(1 << 22));
  set(rule.value, Field::kTpDst, draw.below(1'024));
  rule.value = rule.value & rule.mask;
  return rule;
}

PacketFields flow_packet(traffic::Draw& draw) {
  PacketFields packet;
  set(packet, Field::kEthType, 0x0800);
  set(packet, Field::kIpv4Src, 0x0a00'0000 | draw.below(1 << 22));
  set(packet, Field::kIpv4Dst, 0xc000'0000 | draw.below(1 << 22));
  set(packet, Field::kTpSrc, draw.below(60'000));
  set(packet, Field::kTpDst, draw.below(1'024));
  return packet;
}

void classify_all(Classifier& classifier, std::span<const PacketFields> packets) {
  const std::vector<uint32_t> bytes(packets.size(), 64);
  std::vector<Answer> answers(packets.size());
  classifier.classify(packets, bytes, answers);
}

TEST(ClassifierCost, many_rules_load_fast_and_change_fast_under_traffic) {
  traffic::Draw draw(1);
  Classifier classifier = Classifier::create({.hash_seed = 1}).value();
  std::vector<RuleId> ids;
  const double begun = seconds_of_this_thread();
  for (uint64_t i = 0; i < kRules; ++i) ids.push_back(classifier.add(flow_rule(draw)).value());
  const double load_seconds = seconds_of_this_thread() - begun;

  std::vector<PacketFields> packets(kRules);
  for (PacketFields& packet : packets) packet = flow_packet(draw);
  classify_all(classifier, packets);
  std::vector<double> change_seconds;
  for (size_t change = 0; change < 4'000; ++change) {
    // Traffic that makes new megaflows all the time.
    classify_all(classifier, std::span(packets).subspan(change * 16 % (kRules - 32), 32));
    const size_t which = draw.below(static_cast<uint64_t>(ids.size()));
    const Rule rule = flow_rule(draw);
    const double before = seconds_of_this_thread();
    if (change % 2 == 0) {
      ASSERT_TRUE(classifier.erase(ids[which]));
      change_seconds.push_back(seconds_of_this_thread() - before);
      ids[which] = ids.back();
      ids.pop_back();
    } else {
      ids.push_back(classifier.add(rule).value());
      change_seconds.push_back(seconds_of_this_thread() - before);
    }
  }
  std::ranges::sort(change_seconds);
  const double p99 = change_seconds[change_seconds.size() * 99 / 100];
  std::printf(
      "%llu rules, %zu masks: loaded in %.3f s; %llu megaflows; a change: median %.0f us, "
      "p99 %.0f us, longest %.0f us\n",
      static_cast<unsigned long long>(kRules), classifier.mask_count(), load_seconds,
      static_cast<unsigned long long>(classifier.megaflow_count()),
      change_seconds[change_seconds.size() / 2] * 1e6, p99 * 1e6, change_seconds.back() * 1e6);
  EXPECT_EQ(classifier.audit(), std::nullopt);
  EXPECT_GT(classifier.megaflow_count(), kRules / 8) << "changes compare few";
}

// --- Tuple space explosion. ---

// A thousand rules of as many masks as an attacker may hope for: a search that passes the rule of a
// prefix has looked at one bit more. Each prefix of a field ends in a one behind zeroes, so packets
// of zeroes pass them all. At the end stand rules of one mask.
std::vector<Rule> many_mask_rules() {
  static constexpr std::array kOfMany = {Field::kIpv4Src, Field::kIpv4Dst, Field::kTpSrc,
                                         Field::kTpDst,   Field::kEthSrc,  Field::kEthDst,
                                         Field::kIpv6Src, Field::kIpv6Dst};
  std::vector<Rule> rules;
  uint16_t priority = 10'000;
  for (const Field field : kOfMany) {
    const unsigned bits = place_of(field).bits;
    for (unsigned prefix = 1; prefix <= bits; ++prefix) {
      Rule rule{.priority = priority--, .action = 1};
      const FieldNumber shorter = prefix_mask(field, prefix - 1);
      const FieldNumber mask = prefix_mask(field, prefix);
      set(rule.mask, field, mask);
      set(rule.value, field, FieldNumber{mask.high & ~shorter.high, mask.low & ~shorter.low});
      rules.push_back(rule);
    }
  }
  for (uint64_t in_port = 0; rules.size() < 1'000; ++in_port) {
    Rule rule{.priority = 1, .action = 2};
    set(rule.mask, Field::kInPort, 0xffff);
    set(rule.value, Field::kInPort, in_port);
    rules.push_back(rule);
  }
  return rules;
}

// Packets that each match a rule, so that searches end at every depth; none comes twice.
std::vector<PacketFields> attack_packets(const std::vector<Rule>& rules, uint64_t seed) {
  traffic::Draw draw(seed);
  std::vector<PacketFields> packets;
  for (int repeat = 0; repeat < 8; ++repeat) {
    for (const Rule& rule : rules) {
      PacketFields packet = rule.value;
      set(packet, Field::kReg0, draw.word());
      packets.push_back(packet);
    }
  }
  return packets;
}

uint64_t lookups_of(const ClassifierCounters& counters) {
  return counters.cache_lookups + counters.megaflow_lookups + counters.rule_lookups;
}

struct VictimCost {
  double nanoseconds = 0;  // a packet
  double lookups = 0;      // a packet, in any layer
  size_t masks = 0;        // of megaflows, at the end
};

// Of a victim's packets, which take turns with those of the attacker.
VictimCost victim_cost(bool has_cache, bool is_attacked) {
  Classifier classifier =
      Classifier::create({.cache_entries = has_cache ? 8'192u : 0u, .hash_seed = 3}).value();
  const std::vector<Rule> rules = many_mask_rules();
  for (const Rule& rule : rules) EXPECT_TRUE(classifier.add(rule).ok());
  traffic::Draw draw(4);
  std::vector<PacketFields> victim(256);
  for (PacketFields& packet : victim) {
    packet = flow_packet(draw);
    set(packet, Field::kIpv4Src, 0);  // passes the rules of the first field
  }
  if (is_attacked) classify_all(classifier, attack_packets(rules, 1'000));  // who comes first
  double best = 1e9;
  uint64_t tick = 0;
  uint64_t lookups = 0;
  uint64_t packet_count = 0;
  for (uint64_t round = 0; round < kRounds; ++round) {
    double seconds = 0;
    uint64_t answered = 0;
    const std::vector<PacketFields> attack = attack_packets(rules, round);
    for (size_t at = 0; at + 32 <= attack.size(); at += 32) {
      if (is_attacked) classify_all(classifier, std::span(attack).subspan(at, 32));
      const auto packets = std::span<const PacketFields>(victim).subspan(at % 256, 32);
      std::array<uint32_t, 32> bytes{};
      std::array<Answer, 32> answers;
      const uint64_t lookups_before = lookups_of(classifier.counters());
      const double begun = seconds_of_this_thread();
      classifier.classify(packets, bytes, answers);
      seconds += seconds_of_this_thread() - begun;
      lookups += lookups_of(classifier.counters()) - lookups_before;
      answered += 32;
    }
    best = std::min(best, seconds / static_cast<double>(answered) * 1e9);
    packet_count += answered;
    classifier.advance({++tick});
    classifier.maintain(4'096);
  }
  EXPECT_EQ(classifier.audit(), std::nullopt);
  return {best, static_cast<double>(lookups) / static_cast<double>(packet_count),
          classifier.megaflow_mask_count()};
}

TEST(ClassifierCost, who_multiplies_megaflow_masks_costs_others_at_most_twice_as_much) {
  for (const bool has_cache : {false, true}) {
    const VictimCost alone = victim_cost(has_cache, false);
    const VictimCost attacked = victim_cost(has_cache, true);
    std::printf(
        "%s: a victim's packet alone %.1f ns, %zu masks, %.2f lookups; under attack %.1f ns, "
        "%zu masks, %.2f lookups\n",
        has_cache ? "with the exact-match cache" : "megaflows only", alone.nanoseconds, alone.masks,
        alone.lookups, attacked.nanoseconds, attacked.masks, attacked.lookups);
    EXPECT_GE(attacked.masks, 400u) << "the attack is one";
    EXPECT_LE(attacked.lookups, 2 * alone.lookups);
  }
}

}  // namespace
}  // namespace roost::classify
