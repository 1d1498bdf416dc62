// The generator's configuration: what it means, and what each fault says.
#include "apps/trafficgen/config/config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/trafficgen/settings.h"

namespace roost::trafficgen {
namespace {

std::string first_fault(const std::string& text) {
  const ConfigOutcome outcome = parse_config(text);
  EXPECT_FALSE(outcome.config.has_value());
  return outcome.faults.empty() ? "" : outcome.faults.front().text;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(TrafficgenConfig, says_what_it_says) {
  const ConfigOutcome outcome = parse_config(settings_with(R"(
[[step]]
seconds = 2
[[step]]
seconds = 3
packets_per_second = 1e6
burst_microseconds = 500
[flood]
kind = "ack"
packets_per_second = 2e6
from = 1
[late]
microseconds = 50
)"));
  ASSERT_TRUE(outcome.config) << outcome.faults.front().text;
  const Config& config = *outcome.config;
  EXPECT_EQ(config.traffic.stream.profile.flows, 20'000U);
  EXPECT_EQ(config.traffic.stream.profile.length.mean, 10);
  EXPECT_EQ(config.traffic.frame_bytes, 64);
  EXPECT_EQ(config.port_count(), 2);
  EXPECT_EQ(config.clients.prefixes.size(), 2U);
  ASSERT_EQ(config.steps.size(), 2U);
  EXPECT_FALSE(config.steps[0].packets_per_second);
  EXPECT_EQ(config.steps[0].burst_microseconds, 0);
  EXPECT_EQ(config.steps[1].packets_per_second, 1e6);
  EXPECT_EQ(config.steps[1].burst_microseconds, 500);
  EXPECT_EQ(config.seconds(), 5);
  ASSERT_TRUE(config.flood);
  EXPECT_EQ(config.flood->kind, FloodKind::kAck);
  EXPECT_EQ(config.flood->to_second, 5);
  EXPECT_EQ(config.late.microseconds, 50);
}

TEST(TrafficgenConfig, says_what_is_wrong) {
  const std::string whole = settings_with(kOneStep);
  EXPECT_EQ(first_fault(kSettings), "the file has no step; add a [[step]]");
  EXPECT_EQ(first_fault(replaced(whole, "seconds = 1\n", "seconds = 0\n")),
            "[[step]] seconds: 0 is out of range; give 0.001 to 86400");
  EXPECT_EQ(first_fault(whole + "burst_microseconds = -1\n"),
            "[[step]] burst_microseconds: -1 is out of range; give 0 to 1000000");
  EXPECT_EQ(first_fault(replaced(whole, "seed = 7", "profile = \"mall\"")),
            "[traffic] profile: \"mall\" is none; there are \"campus-like\", \"backbone-like\"");
  EXPECT_EQ(first_fault(replaced(whole, "seed = 7", "frame_bytes = \"big\"")),
            "[traffic] frame_bytes: \"big\" is no size; give 64 to 1518, or \"imix\"");
  EXPECT_EQ(first_fault(replaced(whole, "seed = 7", "fin = 0.7\nrst = 0.5")),
            "[traffic] rst: with \"fin\" it is more than all connections; give shares whose sum is "
            "at most 1");
}

TEST(TrafficgenConfig, has_an_end_for_each_connection) {
  const std::string narrow = replaced(settings_with(kOneStep), "64.0.0.0/8", "64.0.0.0/32");
  EXPECT_TRUE(parse_config(narrow).config);
  EXPECT_EQ(first_fault(replaced(narrow, "flows = 20000", "flows = 40000")),
            "[clients] prefixes: 64.0.0.0/32 has room for 32768 connections and [traffic] has "
            "40000; give a shorter prefix");
  EXPECT_EQ(first_fault(replaced(narrow, "\"2001:db8:1::/48\"", "\"65.0.0.0/8\"")),
            "[clients] prefixes: two are of one family; give one of each at most");
}

}  // namespace
}  // namespace roost::trafficgen
