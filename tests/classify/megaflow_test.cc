// Every megaflow gives all its packets the answer of the rules, and no packet is in two.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "roost/classify/classifier.h"
#include "tests/base/step_count.h"
#include "tests/classify/rule_model.h"

namespace roost::classify {
namespace {

struct Seen {
  PacketFields mask;
  PacketFields value;
  RuleIndex rule;
};

std::vector<Seen> megaflows_of(const Classifier& classifier) {
  std::vector<Seen> seen;
  classifier.megaflows().for_each(
      [&](const PacketFields& mask, const PacketFields& value, RuleIndex rule) {
        seen.push_back({mask, value, rule});
      });
  return seen;
}

// A packet of the megaflow, with all bits that it does not look at drawn anew: half of them as the
// rules' values are, so that other rules match it.
PacketFields packet_in(const Seen& megaflow, RuleDraw& random) {
  PacketFields packet = random.packet();
  for (size_t word = 0; word < kFieldWords; ++word) {
    if (random.draw().below(4) == 0) packet.words[word] = random.draw().word();
    packet.words[word] &= ~megaflow.mask.words[word];
    packet.words[word] |= megaflow.value.words[word];
  }
  return packet;
}

void check(const std::vector<Seen>& megaflows, const RuleModel& model, RuleDraw& random) {
  for (size_t i = 0; i < megaflows.size(); ++i) {
    for (int repeat = 0; repeat < 100; ++repeat) {
      const RuleModel::Entry* winner = model.winner(packet_in(megaflows[i], random));
      ASSERT_EQ(megaflows[i].rule, winner == nullptr ? kNoRule : winner->id.index);
    }
    for (size_t j = 0; j < i; ++j) {
      const PacketFields both = megaflows[i].mask & megaflows[j].mask;
      ASSERT_FALSE(agree(megaflows[i].value, megaflows[j].value, both)) << "not disjoint";
    }
  }
}

TEST(Megaflows, all_packets_of_each_get_its_rule_and_no_packet_is_in_two) {
  constexpr uint64_t kRuleSets = kIsOptimised ? step_count(10, 3) : 3;
  uint64_t megaflow_count = 0;
  size_t masks_most = 0;
  for (uint64_t seed = 1; seed <= kRuleSets; ++seed) {
    SCOPED_TRACE(seed);
    RuleDraw random(seed);
    RuleModel model;
    Classifier classifier =
        Classifier::create({.megaflow_idle_ticks = 3, .hash_seed = seed}).value();
    for (uint64_t round = 0; round < 8; ++round) {
      // Some rules come, some go, and between them packets make megaflows of the rules of then.
      for (uint64_t i = 0; i < (round == 0 ? 1 + seed * 12 : 6); ++i) {
        if (round % 2 == 1 && !model.rules().empty()) {
          const uint64_t among = i < 3 ? model.rules().size() : 1;
          ASSERT_TRUE(classifier.erase(model.erase(random.draw().below(among))));
        } else {
          const Rule rule = random.rule();
          model.add(rule, classifier.add(rule).value());
        }
        std::vector<PacketFields> packets(16);
        for (PacketFields& packet : packets) packet = random.packet();
        std::vector<Answer> answers(packets.size());
        classifier.classify(packets, std::vector<uint32_t>(packets.size(), 60), answers);
      }
      const std::vector<Seen> megaflows = megaflows_of(classifier);
      ASSERT_EQ(megaflows.size(), classifier.megaflow_count());
      check(megaflows, model, random);
      if (HasFatalFailure()) return;
      megaflow_count += megaflows.size();
      masks_most = std::max(masks_most, classifier.megaflow_mask_count());
      classifier.advance({round});
      classifier.maintain(1'000);
      ASSERT_EQ(classifier.audit(), std::nullopt);
    }
  }
  std::printf("%llu megaflows, at most %zu masks\n",
              static_cast<unsigned long long>(megaflow_count), masks_most);
}

}  // namespace
}  // namespace roost::classify
