// What the layers must not get wrong, one by one (T-09, X-67).
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tests/classify/test_rules.h"

namespace roost::classify {
namespace {

// Every test below, with each of the layers on and off.
class EveryLayer : public testing::TestWithParam<std::pair<bool, bool>> {
 protected:
  Classifier classifier_ =
      Classifier::create(with_layers(GetParam().first, GetParam().second)).value();

  void TearDown() override { EXPECT_EQ(classifier_.audit(), std::nullopt); }
  // Twice more, so that what was cached answers too.
  void expect(const PacketFields& packet, uint32_t action) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(classifier_, packet), action);
  }
};
INSTANTIATE_TEST_SUITE_P(Layers, EveryLayer,
                         testing::Values(std::pair(false, false), std::pair(true, false),
                                         std::pair(false, true), std::pair(true, true)));

TEST_P(EveryLayer, the_highest_priority_wins_not_the_first_match) {
  ASSERT_TRUE(classifier_.add(port_rule(80, 5, 1)).ok());
  ASSERT_TRUE(classifier_.add(port_rule(81, 100, 9)).ok());  // makes its subtable the first
  ASSERT_TRUE(classifier_.add(source_rule(8, 0x0a00'0000, 50, 2)).ok());
  expect(packet_of(0x0a01'0101, 80), 2);
  expect(packet_of(0x0b01'0101, 80), 1);
  expect(packet_of(0x0b01'0101, 82), 999);
}

TEST_P(EveryLayer, of_equal_priority_the_first_added_wins) {
  ASSERT_TRUE(classifier_.add(source_rule(8, 0x0a00'0000, 7, 1)).ok());
  ASSERT_TRUE(classifier_.add(port_rule(80, 7, 2)).ok());
  ASSERT_TRUE(classifier_.add(port_rule(80, 7, 3)).ok());
  expect(packet_of(0x0a01'0101, 80), 1);
  expect(packet_of(0x0b01'0101, 80), 2);
}

TEST_P(EveryLayer, rules_of_one_mask_and_value_stand_behind_each_other) {
  const RuleId low = classifier_.add(port_rule(80, 1, 1)).value();
  const RuleId high = classifier_.add(port_rule(80, 9, 9)).value();
  const RuleId middle = classifier_.add(port_rule(80, 5, 5)).value();
  const PacketFields packet = packet_of(1, 80);
  expect(packet, 9);
  ASSERT_TRUE(classifier_.erase(high));
  expect(packet, 5);
  ASSERT_TRUE(classifier_.erase(low));
  expect(packet, 5);
  ASSERT_TRUE(classifier_.erase(middle));
  expect(packet, 999);
  EXPECT_FALSE(classifier_.erase(middle));
}

TEST_P(EveryLayer, a_rule_that_is_added_takes_its_packets_at_once) {
  ASSERT_TRUE(classifier_.add(source_rule(8, 0x0a00'0000, 1, 1)).ok());
  const PacketFields packet = packet_of(0x0a01'0101, 80);
  const PacketFields unmatched = packet_of(0x0b01'0101, 80);
  expect(packet, 1);
  expect(unmatched, 999);
  ASSERT_TRUE(classifier_.add(port_rule(80, 2, 2)).ok());
  expect(packet, 2);
  expect(unmatched, 2);
  ASSERT_TRUE(classifier_.add(port_rule(80, 1, 3)).ok());  // beaten by what is there
  expect(packet, 2);
}

TEST_P(EveryLayer, nothing_cached_outlives_its_rule) {
  ASSERT_TRUE(classifier_.add(source_rule(8, 0x0a00'0000, 1, 1)).ok());
  const RuleId id = classifier_.add(port_rule(80, 2, 2)).value();
  const PacketFields packet = packet_of(0x0a01'0101, 80);
  expect(packet, 2);
  ASSERT_TRUE(classifier_.erase(id));
  expect(packet, 1);
  // The place of the erased rule is taken again, by one that does not match.
  const RuleId next = classifier_.add(port_rule(81, 2, 3)).value();
  EXPECT_EQ(next.index, id.index);
  EXPECT_EQ(classifier_.find(id), nullptr);
  expect(packet, 1);
}

TEST_P(EveryLayer, packets_are_counted_by_rule_whatever_layer_answers) {
  const RuleId id = classifier_.add(port_rule(80, 2, 2)).value();
  expect(packet_of(1, 80), 2);
  expect(packet_of(2, 80), 2);
  expect(packet_of(2, 81), 999);
  EXPECT_EQ(classifier_.counts(id).packets, 6u);
  EXPECT_EQ(classifier_.counts(id).bytes, 600u);
  EXPECT_EQ(classifier_.counters().packets, 9u);
}

TEST_P(EveryLayer, a_refused_rule_changes_nothing) {
  Rule rule = port_rule(80, 1, 1);
  set(rule.value, Field::kIpProto, 6);
  const Result<RuleId> refused = classifier_.add(rule);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("outside its mask"), std::string::npos);
  EXPECT_EQ(classifier_.rule_count(), 0u);
  expect(packet_of(1, 80), 999);
}

TEST_P(EveryLayer, a_mask_of_nothing_matches_everything) {
  ASSERT_TRUE(classifier_.add({.priority = 0, .action = 4}).ok());
  ASSERT_TRUE(classifier_.add(port_rule(80, 1, 1)).ok());
  expect(packet_of(1, 80), 1);
  expect(packet_of(1, 81), 4);
  expect(PacketFields{}, 4);
}

TEST(Classifier, rules_and_masks_are_bounded) {
  ClassifierConfig config = with_layers(true, true);
  config.rules_max = 3;
  config.masks_max = 2;
  Classifier classifier = Classifier::create(config).value();
  const RuleId first = classifier.add(port_rule(80, 1, 1)).value();
  ASSERT_TRUE(classifier.add(source_rule(8, 0x0a00'0000, 1, 1)).ok());
  const Result<RuleId> third_mask = classifier.add(source_rule(9, 0x0a00'0000, 1, 1));
  ASSERT_FALSE(third_mask.ok());
  EXPECT_NE(third_mask.error().message.find("2 different masks"), std::string::npos);
  // A subtable that became empty gives way.
  ASSERT_TRUE(classifier.erase(first));
  ASSERT_TRUE(classifier.add(source_rule(9, 0x0a00'0000, 1, 1)).ok());
  ASSERT_TRUE(classifier.add(source_rule(9, 0x0a80'0000, 1, 1)).ok());
  EXPECT_FALSE(classifier.add(source_rule(9, 0x0b00'0000, 1, 1)).ok());
  EXPECT_EQ(classifier.audit(), std::nullopt);
}

TEST(Classifier, a_flow_register_that_contradicts_itself_is_refused) {
  EXPECT_FALSE(Classifier::create({.flow_register = FlowRegister::Config{.bits = 100}}).ok());
  EXPECT_FALSE(
      Classifier::create({.flow_register = FlowRegister::Config{.flows_off = 5, .flows_on = 5}})
          .ok());
}

TEST(Classifier, the_search_ends_where_no_later_rule_can_win) {
  Classifier classifier = Classifier::create(with_layers(false, false)).value();
  ASSERT_TRUE(classifier.add(port_rule(80, 100, 1)).ok());
  ASSERT_TRUE(classifier.add(source_rule(8, 0x0a00'0000, 50, 2)).ok());
  ASSERT_TRUE(classifier.add(source_rule(16, 0x0a01'0000, 10, 3)).ok());
  EXPECT_EQ(ask(classifier, packet_of(0x0a01'0101, 80)), 1u);
  EXPECT_EQ(classifier.counters().rule_lookups, 1u);
  EXPECT_EQ(ask(classifier, packet_of(0x0a01'0101, 81)), 2u);
  EXPECT_EQ(classifier.counters().rule_lookups, 3u);
  EXPECT_EQ(ask(classifier, packet_of(0x0b01'0101, 81)), 999u);
  EXPECT_EQ(classifier.counters().rule_lookups, 6u);
}

TEST(Classifier, layers_answer_in_their_order) {
  Classifier classifier = Classifier::create(with_layers(true, true)).value();
  ASSERT_TRUE(classifier.add(port_rule(80, 1, 1)).ok());
  ask(classifier, packet_of(1, 80));
  EXPECT_EQ(classifier.counters().rule_hits, 1u);
  ask(classifier, packet_of(2, 80));
  EXPECT_EQ(classifier.counters().megaflow_hits, 1u);
  ask(classifier, packet_of(2, 80));
  ask(classifier, packet_of(1, 80));
  EXPECT_EQ(classifier.counters().cache_hits, 2u);
  EXPECT_EQ(classifier.megaflow_count(), 1u);
}

TEST(Classifier, idle_megaflows_leave_and_others_stay) {
  Classifier classifier = Classifier::create(with_layers(true, true)).value();
  ASSERT_TRUE(classifier.add(port_rule(80, 1, 1)).ok());
  ask(classifier, packet_of(1, 80));
  ask(classifier, packet_of(1, 81));
  for (uint64_t tick = 1; tick <= 5; ++tick) {
    classifier.advance({tick});
    ask(classifier, packet_of(1, 80));  // by the exact-match cache
    classifier.maintain(100);
  }
  EXPECT_EQ(classifier.megaflow_count(), 1u);
  EXPECT_EQ(classifier.counters().megaflows_idle, 1u);
  EXPECT_EQ(classifier.counters().cache_hits, 5u);
  EXPECT_EQ(classifier.audit(), std::nullopt);
}

TEST(Classifier, megaflows_beyond_the_bound_are_answered_and_counted) {
  ClassifierConfig config = with_layers(false, true);
  config.megaflows_max = 2;
  Classifier classifier = Classifier::create(config).value();
  ASSERT_TRUE(classifier.add(port_rule(80, 1, 1)).ok());
  for (uint64_t port = 80; port < 84; ++port) {
    EXPECT_EQ(ask(classifier, packet_of(1, port)), port == 80 ? 1u : 999u);
  }
  EXPECT_EQ(classifier.megaflow_count(), 2u);
  EXPECT_EQ(classifier.counters().megaflow_overflows, 2u);
}

TEST(Classifier, explains_what_was_looked_at_and_who_won) {
  Classifier classifier = Classifier::create(with_layers(true, true)).value();
  const RuleId low = classifier.add(source_rule(8, 0x0a00'0000, 1, 1)).value();
  const RuleId high = classifier.add(port_rule(80, 9, 2)).value();
  const PacketFields packet = packet_of(0x0a01'0101, 81);
  Explanation told = classifier.explain(packet);
  ASSERT_EQ(told.steps.size(), 2u);
  EXPECT_EQ(told.steps[0].mask, classifier.find(high)->mask);
  EXPECT_EQ(told.steps[0].rule, kNoRule);
  EXPECT_EQ(told.steps[1].rule, low.index);
  EXPECT_EQ(told.answer, (Answer{low.index, 1}));
  EXPECT_EQ(told.looked_at, classifier.find(high)->mask | classifier.find(low)->mask);
  EXPECT_FALSE(told.is_cached);
  EXPECT_FALSE(told.megaflow_mask.has_value());
  EXPECT_EQ(classifier.counters().packets, 0u);
  ask(classifier, packet);
  told = classifier.explain(packet);
  EXPECT_TRUE(told.is_cached);
  EXPECT_EQ(told.megaflow_mask, told.looked_at);
}

TEST(Classifier, maintenance_tightens_what_erased_rules_left_loose) {
  Classifier classifier = Classifier::create(with_layers(false, true)).value();
  const RuleId high = classifier.add(port_rule(80, 9, 2)).value();
  ASSERT_TRUE(classifier.add(source_rule(8, 0x0a00'0000, 1, 1)).ok());
  ask(classifier, packet_of(0x0a01'0101, 81));
  ASSERT_TRUE(classifier.erase(high));
  EXPECT_EQ(classifier.mask_count(), 2u);
  classifier.advance({4});
  ask(classifier, packet_of(0x0a01'0101, 81));  // so that its megaflow is not idle
  classifier.maintain(100);
  EXPECT_EQ(classifier.mask_count(), 1u);
  EXPECT_EQ(classifier.megaflow_count(), 0u);  // it looked at more, and would overlap the next
  EXPECT_EQ(ask(classifier, packet_of(0x0a01'0101, 81)), 1u);
  EXPECT_EQ(classifier.explain(packet_of(0x0a01'0101, 81)).steps.size(), 1u);
  EXPECT_EQ(classifier.audit(), std::nullopt);
}

// A wide subtable's values of one digest stand in a list; a value's rules in one of their own.
TEST(Classifier, values_of_one_digest_outlive_the_highest_rules_of_each_other) {
  ClassifierConfig config = with_layers(false, false);
  config.digest_bits = 1;
  Classifier classifier = Classifier::create(config).value();
  constexpr uint32_t kValues = 20;
  const auto wide_rule = [](uint32_t value, uint16_t priority) {
    Rule rule{.priority = priority, .action = priority * 100U + value};
    for (uint64_t& word : rule.mask.words) word = UINT64_MAX;
    rule.value = packet_of(0x0a00'0000 + value, 80);
    return rule;
  };
  std::vector<RuleId> highest;
  for (uint32_t value = 0; value < kValues; ++value) {
    ASSERT_TRUE(classifier.add(wide_rule(value, 5)));
    highest.push_back(classifier.add(wide_rule(value, 9)).value());
  }
  for (uint32_t erased = 0; erased <= kValues; ++erased) {
    for (uint32_t value = 0; value < kValues; ++value) {
      const uint32_t priority = value < erased ? 5 : 9;
      ASSERT_EQ(ask(classifier, packet_of(0x0a00'0000 + value, 80)), priority * 100 + value)
          << "value " << value << ", " << erased << " erased";
    }
    if (erased < kValues) {
      ASSERT_TRUE(classifier.erase(highest[erased]));
    }
  }
  EXPECT_EQ(classifier.audit(), std::nullopt);
}

}  // namespace
}  // namespace roost::classify
