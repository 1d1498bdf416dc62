// What is refused, and what reports and the configuration say.
#include "apps/advise/advice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "apps/advise/report.h"
#include "apps/lb/config/config.h"
#include "roost/memory/memory_there.h"
#include "tests/advise/workloads.h"

namespace roost::advise {
namespace {

constexpr TimeoutSeconds kDefaultTimeouts = default_timeout_seconds();

Advice advice_of(const Workload& workload) {
  return advise(workload, kDefaultTimeouts, uint64_t{1} << 40).value();
}

TEST(Advice, refuses_numbers_that_are_out_of_range) {
  const auto refused = [](auto&& change, std::string_view words) {
    Workload workload = one_million();
    change(workload);
    const auto error = refuse(workload);
    ASSERT_TRUE(error) << words;
    EXPECT_NE(error->message.find(words), std::string::npos) << error->message;
    EXPECT_FALSE(advise(workload, kDefaultTimeouts, {}).ok());
  };
  EXPECT_FALSE(refuse(one_million()));
  refused([](Workload& w) { w.connections = 0; }, "--connections: 0 is out of range");
  refused([](Workload& w) { w.connections = uint64_t{1} << 33; }, "give 1 to 4294967296");
  refused([](Workload& w) { w.packets_per_second = 0; }, "--packets: 0 a second is out of range");
  refused([](Workload& w) { w.packets_per_second = 1e12; }, "--packets: 1e+12 a second");
  refused([](Workload& w) { w.packets_per_second = std::nan(""); }, "--packets: nan");
  refused([](Workload& w) { w.new_per_second = -1; }, "--new: -1 a second");
  refused([](Workload& w) { w.cores = 0; }, "--cores: 0 is out of range; give 1 to 128");
  refused([](Workload& w) { w.cores = 129; }, "--cores: 129");
  refused([](Workload& w) { w.udp_share = 1.5; }, "--udp: 1.5 is no share");
  refused([](Workload& w) { w.silent_share = -0.1; }, "--silent: -0.1 is no share");
  refused([](Workload& w) { w.new_per_second = 2'000'000; }, "contradict each other");
}

TEST(Advice, tables_need_fewer_connections_than_they_can_have) {
  Workload workload = one_million();
  workload.connections = uint64_t{1} << 32;
  const auto advice = advise(workload, kDefaultTimeouts, {});
  ASSERT_FALSE(advice.ok());
  EXPECT_NE(advice.error().message.find("give more cores"), std::string::npos);
  workload.cores = 4;
  EXPECT_TRUE(advise(workload, kDefaultTimeouts, {}).ok());
}

TEST(Advice, no_connection_that_begins_is_a_load_too) {
  Workload workload = one_million();
  workload.new_per_second = 0;
  const Advice advice = advice_of(workload);
  EXPECT_EQ(advice.sizing.held, 1'000'000U);
  ASSERT_TRUE(advice.cost);
  EXPECT_NE(advice.cost->outside, "") << "infinitely many packets each were not measured";
}

TEST(Advice, says_when_memory_is_missing) {
  const Advice advice = advise(one_million(), kDefaultTimeouts, 1'000'000).value();
  EXPECT_FALSE(advice.fits());
  const std::string text = format_text(advice);
  const uint64_t bytes = advice.sizing.bytes;
  EXPECT_NE(
      text.find("IT DOES NOT FIT: " + std::to_string(bytes) + " are needed, 1000000 are there, " +
                std::to_string(bytes - 1'000'000) + " are missing"),
      std::string::npos)
      << text;
  EXPECT_TRUE(advise(one_million(), kDefaultTimeouts, bytes).value().fits());
  EXPECT_TRUE(advise(one_million(), kDefaultTimeouts, {}).value().fits()) << "it is not known";
}

TEST(Advice, says_how_many_cores_the_packets_need) {
  Workload workload = one_million();
  EXPECT_EQ(advice_of(workload).cores_needed(), 1U);
  workload.packets_per_second = 20e6;
  workload.new_per_second = 1e6;
  const Advice advice = advice_of(workload);
  const double a_core = advice.cost->packets_per_second();
  EXPECT_EQ(advice.cores_needed(), static_cast<uint32_t>(std::ceil(20e6 / a_core)));
  EXPECT_NE(format_text(advice).find("TOO FEW CORES"), std::string::npos);
}

TEST(Advice, json_has_what_the_text_has) {
  const Advice advice = advice_of(one_million());
  const auto json = nlohmann::json::parse(format_json(advice));
  EXPECT_EQ(json["connections"], advice.sizing.connections);
  EXPECT_EQ(json["bytes"], advice.sizing.bytes);
  EXPECT_EQ(json["timeouts"]["udp"], 60);
  EXPECT_EQ(json["packet"]["cores_needed"], 1);
  EXPECT_EQ(json["table"]["ipv4"], "inline");
  EXPECT_EQ(json["toml"], format_toml(advice));
  Workload workload = one_million();
  workload.families = Families::kIpv6;
  const auto without = nlohmann::json::parse(format_json(advice_of(workload)));
  EXPECT_TRUE(without["packet"].is_null());
  EXPECT_EQ(without["no_packet_cost"], "no record has what a packet of IPv6 costs");
  EXPECT_EQ(without["table"]["ipv6"], "split");
}

TEST(Advice, its_configuration_says_what_it_says) {
  for (const Families families : {Families::kIpv4, Families::kIpv6, Families::kBoth}) {
    for (size_t mode = 0; mode < lb::kModeNames.size(); ++mode) {
      Workload workload = one_million();
      workload.families = families;
      workload.mode = static_cast<lb::Mode>(mode);
      workload.cores = 3;
      TimeoutSeconds timeouts = kDefaultTimeouts;
      timeouts[kTcpEstablished] = 90;
      const Advice advice = advise(workload, timeouts, {}).value();
      const lb::ConfigOutcome outcome = lb::parse_config(format_toml(advice));
      ASSERT_TRUE(outcome.config) << lb::kModeNames[mode] << ": "
                                  << config::describe(outcome.faults.front(), "lb.toml");
      EXPECT_EQ(outcome.config->table.connections, advice.sizing.connections);
      EXPECT_EQ(outcome.config->tick_seconds(), 0.2);
      EXPECT_EQ(outcome.config->workers.count, 3U);
      EXPECT_EQ(outcome.config->services.size(), families == Families::kBoth ? 2U : 1U);
      const auto established = static_cast<size_t>(conntrack::ConnectionState::kEstablished);
      EXPECT_EQ(outcome.config->timeouts[established], 450U);
    }
  }
}

TEST(Memory, is_what_is_available_and_huge_pages_that_nobody_has) {
  std::istringstream text(
      "MemTotal:       24683656 kB\nMemAvailable:    1000 kB\nHugePages_Total:  5\n"
      "HugePages_Free:        3\nHugepagesize:       2048 kB\n");
  EXPECT_EQ(find_memory_there(text), 1'000U * 1'024 + 3U * 2'048 * 1'024);
  std::istringstream empty("HugePages_Free: 3\n");
  EXPECT_FALSE(find_memory_there(empty));
}

}  // namespace
}  // namespace roost::advise
