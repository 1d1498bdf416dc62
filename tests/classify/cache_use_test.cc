// What the exact-match cache keeps, and when it is in use.
#include <gtest/gtest.h>

#include <array>

#include "tests/classify/test_rules.h"

namespace roost::classify {
namespace {

TEST(CacheUse, entries_with_hits_outlast_packets_that_come_once) {
  ClassifierConfig config = with_layers(true, true);
  config.is_cache_always_used = true;
  Classifier classifier = Classifier::create(config).value();
  ASSERT_TRUE(classifier.add(port_rule(80, 1, 1)).ok());
  for (uint64_t other = 0; other < 2'000; ++other) {
    if (other % 32 == 0) ask(classifier, packet_of(1, 80));
    ask(classifier, packet_of(1'000 + other, 80));
  }
  EXPECT_GE(classifier.counters().cache_hits, 60u);
}

TEST(CacheUse, the_register_takes_the_cache_out_of_use_and_back) {
  ClassifierConfig config = with_layers(true, true);
  config.flow_register = FlowRegister::Config{.bits = 64,
                                              .window_packets = 256,
                                              .flows_off = 100,
                                              .flows_on = 50,
                                              .lookups_off = 0.5,
                                              .lookups_on = 1};
  Classifier classifier = Classifier::create(config).value();
  ASSERT_TRUE(classifier.add(port_rule(80, 1, 1)).ok());
  for (uint64_t i = 0; i < 512; ++i) ask(classifier, packet_of(i, 80));
  EXPECT_FALSE(classifier.is_cache_used());
  EXPECT_EQ(classifier.counters().cache_lookups, 256u - FlowRegister::kSamples)
      << "the others went past it";
  for (uint64_t i = 0; i < uint64_t{256} * FlowRegister::kWindowsApart; ++i)
    ask(classifier, packet_of(i % 20, 80));
  EXPECT_TRUE(classifier.is_cache_used());
  EXPECT_EQ(classifier.counters().cache_switches, 2u);
  EXPECT_NEAR(classifier.active_flows().flows, 20, 15);
}

TEST(CacheUse, the_cache_is_in_use_where_packets_take_several_lookups) {
  ClassifierConfig config = with_layers(true, true);
  config.flow_register =
      FlowRegister::Config{.bits = 64, .window_packets = 256, .flows_off = 100, .flows_on = 50};
  Classifier classifier = Classifier::create(config).value();
  ASSERT_TRUE(classifier.add(port_rule(80, 1, 1)).ok());
  // Each of four is another rule's, once they are there.
  const auto ask_all = [&](uint64_t windows) {
    for (uint64_t i = 0; i < windows * 256; ++i) {
      constexpr std::array<uint64_t, 4> kSources = {0x0a00'0100, 0x0a00'0001, 0x0a00'0100,
                                                    0x0b00'0000};
      const uint64_t kind = (i + i / 32) % 4;  // so that those that go past the cache are of all
      PacketFields packet = packet_of(kSources[kind] + (kind == 1 ? 0 : i % 5), 80);
      if (kind == 0) set(packet, Field::kIpProto, 6);
      ask(classifier, packet);
    }
  };
  ask_all(uint64_t{2} * FlowRegister::kWindowsApart);
  EXPECT_FALSE(classifier.is_cache_used()) << "one lookup each";
  ASSERT_TRUE(classifier.add(source_rule(8, 0x0a00'0000, 5, 2)).ok());
  ASSERT_TRUE(classifier.add(source_rule(32, 0x0a00'0001, 9, 3)).ok());
  ASSERT_TRUE(classifier.add(rule_of(Field::kIpProto, all_ones(Field::kIpProto), 6, 20, 4)).ok());
  ask_all(uint64_t{2} * FlowRegister::kWindowsApart);
  EXPECT_EQ(classifier.megaflow_mask_count(), 4u);
  EXPECT_TRUE(classifier.is_cache_used()) << "two and a half each";
}

TEST(CacheUse, a_cache_that_answers_all_goes_out_of_use_where_one_lookup_would_do) {
  ClassifierConfig config = with_layers(true, true);
  config.flow_register =
      FlowRegister::Config{.bits = 64, .window_packets = 256, .flows_off = 100, .flows_on = 50};
  Classifier classifier = Classifier::create(config).value();
  // The first packets make a megaflow, after a search through four subtables.
  for (unsigned prefix = 8; prefix <= 32; prefix += 8)
    ASSERT_TRUE(classifier.add(source_rule(prefix, 0x0a00'0000, 1, 1)).ok());
  for (uint64_t i = 0; i < 255; ++i) ask(classifier, packet_of(0x0b00'0000, 80));
  EXPECT_TRUE(classifier.is_cache_used());
  EXPECT_EQ(classifier.counters().cache_hits, 254u - FlowRegister::kSamples);
  for (uint64_t i = 0; i < uint64_t{256} * FlowRegister::kWindowsApart; ++i)
    ask(classifier, packet_of(0x0b00'0000, 80));
  EXPECT_FALSE(classifier.is_cache_used());
  EXPECT_EQ(classifier.megaflow_mask_count(), 1u);
}

}  // namespace
}  // namespace roost::classify
