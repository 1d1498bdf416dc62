// The classifier against a loop over the rules, with every layer on and off, while rules change.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "roost/classify/classifier.h"
#include "tests/classify/rule_model.h"

namespace roost::classify {
namespace {

constexpr uint64_t kRuleSets = kIsOptimised ? 2'000 : 40;
constexpr uint32_t kRulesMax = kIsOptimised ? 10'000 : 1'000;
constexpr size_t kRounds = 4;            // batches between which rules change
constexpr size_t kDistinctPackets = 96;  // in a round
constexpr size_t kPacketsARound = 640;   // of these, for each classifier

struct Layers {
  uint32_t cache_entries;
  bool has_megaflows;
  unsigned digest_bits;
};
// Two of a rule set, those of its seed's parity. A digest of few bits makes values of wide masks
// collide, and flows in the cache.
constexpr std::array<std::array<Layers, 2>, 2> kLayers = {
    {{{{64, true, 64}, {0, false, 3}}}, {{{0, true, 3}, {64, false, 3}}}}};

ClassifierConfig config_of(const Layers& layers, uint64_t seed) {
  return {
      .cache_entries = layers.cache_entries,
      .has_megaflows = layers.has_megaflows,
      .flow_register =
          FlowRegister::Config{.bits = 64, .window_packets = 128, .flows_off = 60, .flows_on = 50},
      .megaflows_max = 200,
      .megaflow_masks_max = 6,
      .megaflow_idle_ticks = 2,
      .hash_seed = seed,
      .digest_bits = layers.digest_bits};
}

// A rule set, the same in each classifier and in the model.
class RuleSet {
 public:
  explicit RuleSet(uint64_t seed) : random_(seed), seed_(seed) {
    for (const Layers& layers : kLayers[seed % 2]) {
      classifiers_.push_back(Classifier::create(config_of(layers, seed)).value());
    }
    const double size = std::pow(static_cast<double>(kRulesMax), random_.draw().unit());
    for (uint64_t i = 0; i < static_cast<uint64_t>(size); ++i) add();
    model_.sort();
  }

  // Returns how many packets were compared.
  uint64_t run() {
    uint64_t compared = 0;
    for (size_t round = 0; round < kRounds; ++round) {
      draw_packets();
      for (Classifier& classifier : classifiers_) compared += compare(classifier);
      if (testing::Test::HasFailure()) return compared;
      change_rules();
      for (Classifier& classifier : classifiers_) {
        classifier.advance({tick_ + 1});
        classifier.maintain(100);
      }
      ++tick_;
    }
    for (Classifier& classifier : classifiers_) EXPECT_EQ(classifier.audit(), std::nullopt);
    EXPECT_EQ(classifiers_[0].rule_count(), model_.rules().size());
    return compared;
  }

 private:
  void add() {
    const Rule rule = random_.rule();
    RuleId first;
    for (Classifier& classifier : classifiers_) {
      const RuleId id = classifier.add(rule).value();
      if (&classifier == &classifiers_[0]) first = id;
      ASSERT_EQ(id, first);  // each did the same before
    }
    model_.append(rule, first);
  }

  void change_rules() {
    const uint64_t changes = 1 + random_.draw().below(8);
    for (uint64_t i = 0; i < changes; ++i) {
      if (model_.rules().empty() || random_.draw().below(2) == 0) {
        add();
        model_.sort();
        continue;
      }
      // Often one near the top, which decides many packets.
      const uint64_t among = random_.draw().below(2) == 0
                                 ? model_.rules().size()
                                 : std::min<uint64_t>(4, model_.rules().size());
      const RuleId id = model_.erase(random_.draw().below(among));
      for (Classifier& classifier : classifiers_) {
        ASSERT_TRUE(classifier.erase(id));
        ASSERT_FALSE(classifier.erase(id));
      }
    }
  }

  // Some stay from the round before, and meet what was cached then.
  void draw_packets() {
    packets_.resize(kDistinctPackets);
    expected_.resize(kDistinctPackets);
    for (size_t i = 0; i < kDistinctPackets; ++i) {
      if (i % 4 == 0 || tick_ == 0) packets_[i] = random_.packet();
      const RuleModel::Entry* winner = model_.winner(packets_[i]);
      expected_[i] = winner == nullptr ? Answer{} : Answer{winner->id.index, winner->rule.action};
    }
  }

  uint64_t compare(Classifier& classifier) {
    std::array<PacketFields, kPacketsARound> asked;
    std::array<Answer, kPacketsARound> expected;
    std::array<Answer, kPacketsARound> answers;
    std::array<uint32_t, kPacketsARound> bytes;
    bytes.fill(64);
    for (size_t i = 0; i < kPacketsARound; ++i) {
      const uint64_t which = random_.draw().below(kDistinctPackets);
      asked[i] = packets_[which];
      expected[i] = expected_[which];
    }
    size_t done = 0;
    while (done < kPacketsARound) {
      const size_t count = std::min<size_t>(1 + random_.draw().below(70), kPacketsARound - done);
      classifier.classify(std::span(asked).subspan(done, count), bytes,
                          std::span(answers).subspan(done, count));
      done += count;
    }
    for (size_t i = 0; i < kPacketsARound; ++i) {
      EXPECT_EQ(answers[i], expected[i])
          << "seed " << seed_ << ", classifier " << &classifier - classifiers_.data();
      if (answers[i] != expected[i]) break;
    }
    return kPacketsARound;
  }

  RuleDraw random_;
  uint64_t seed_;
  std::vector<Classifier> classifiers_;
  RuleModel model_;
  std::vector<PacketFields> packets_;
  std::vector<Answer> expected_;
  uint64_t tick_ = 0;
};

TEST(ClassifierModel, every_layer_answers_as_a_loop_over_the_rules_does) {
  const char* from = std::getenv("ROOST_SEED");
  const uint64_t first = from == nullptr ? 1 : std::strtoull(from, nullptr, 10);
  uint64_t compared = 0;
  for (uint64_t seed = first; seed < first + kRuleSets && !HasFailure(); ++seed) {
    compared += RuleSet(seed).run();
  }
  std::printf("%llu rule sets, %llu packets, %s\n", static_cast<unsigned long long>(kRuleSets),
              static_cast<unsigned long long>(compared),
              HasFailure() ? "and differences" : "0 differences");
}

}  // namespace
}  // namespace roost::classify
