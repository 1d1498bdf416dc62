// What the configuration may say, and what is wrong with it.
#include "apps/firewall/config/config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "roost/acl/rule_masks.h"

namespace roost::firewall {
namespace {

const std::string kTwoPorts =
    "[[port]]\naddresses = [\"192.0.2.1/24\"]\n[[port]]\naddresses = [\"10.0.0.1/24\"]\n";

std::vector<std::string> faults_of(const std::string& text) {
  std::vector<std::string> faults;
  for (const config::Fault& fault : parse_config(text).faults) {
    faults.push_back(config::describe(fault, "f.toml"));
  }
  return faults;
}

TEST(FirewallConfig, a_rule_is_read_and_written_as_people_read_it) {
  const ConfigOutcome outcome = parse_config(
      kTwoPorts +
      "[[rule]]\nname = \"web\"\nfrom = [\"port 0\", \"192.0.2.0/25\"]\nto = [\"10.0.0.7\"]\n"
      "protocol = \"tcp\"\nsource_ports = [\"1024-65535\"]\nports = [80, \"8000-8100\"]\n"
      "action = \"allow\"\nlog = true\n[[rule]]\nprotocol = \"112\"\naction = \"reject\"\n");
  ASSERT_TRUE(outcome.config.has_value());
  const std::vector<acl::RuleConfig>& rules = outcome.config->rules;
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rule_text(rules[0]),
            "tcp from port 0, 192.0.2.0/25 ports 1024-65535 to 10.0.0.7/32 ports 80,8000-8100");
  EXPECT_EQ(rules[0].name, "web");
  EXPECT_TRUE(rules[0].logs);
  EXPECT_EQ(rule_text(rules[1]), "112 from any to any");
  EXPECT_EQ(rules[1].name, "2");
  EXPECT_EQ(rules[1].action, acl::Action::kReject);
  EXPECT_EQ(outcome.config->action_without_rule, acl::Action::kDeny);
  EXPECT_TRUE(outcome.config->is_stateful);
}

TEST(FirewallConfig, all_faults_are_told_at_once_with_their_lines) {
  const std::vector<std::string> faults = faults_of(
      kTwoPorts +
      "[[rule]]\nfrom = [\"port 2\", \"10.0.0.0/33\"]\nto = [\"web\"]\nprotocol = \"tpc\"\n"
      "ports = [70000, \"9-8\"]\naction = \"drop\"\n[[rule]]\nports = [80]\naction = \"allow\"\n"
      "[[rule]]\nfrom = [\"10.0.0.0/8\"]\nto = [\"2001:db8::/32\"]\n");
  const std::vector<std::string> wanted = {"\"port 2\" is none",
                                           "\"10.0.0.0/33\" is none",
                                           "\"web\" is none",
                                           "\"tpc\" is none",
                                           "\"70000\" is none",
                                           "\"9-8\" is none",
                                           "action",
                                           "ports without a protocol whose",
                                           "action = ",
                                           "networks of IPv4 on one side"};
  ASSERT_GE(faults.size(), wanted.size());
  for (const std::string& words : wanted) {
    EXPECT_TRUE(std::ranges::any_of(faults, [&](const std::string& fault) {
      return fault.find(words) != std::string::npos && fault.starts_with("f.toml:");
    })) << words;
  }
}

TEST(FirewallConfig, ports_of_sctp_are_refused_for_they_are_not_looked_at) {
  const std::string rule = "[[rule]]\nprotocol = \"sctp\"\naction = \"deny\"\n";
  EXPECT_TRUE(faults_of(kTwoPorts + rule).empty());
  EXPECT_EQ(faults_of(kTwoPorts + rule + "ports = [5060]\n").size(), 1U);
}

TEST(FirewallConfig, names_are_short_and_plain_and_faults_control_no_terminal) {
  const auto faults_of_name = [](const std::string& name) {
    return faults_of(kTwoPorts + "[[rule]]\nname = \"" + name + "\"\naction = \"deny\"\n").size();
  };
  EXPECT_EQ(faults_of_name("a-Z_9.(x)"), 0U);
  EXPECT_EQ(faults_of_name(std::string(64, 'x')), 0U);
  EXPECT_EQ(faults_of_name(std::string(65, 'x')), 1U);
  for (const char* name : {"", "a b", "a\\nb", "\\u001b[31m"}) {
    EXPECT_EQ(faults_of_name(name), 1U) << name;
  }
  const std::vector<std::string> faults =
      faults_of(kTwoPorts +
                "[[rule]]\nfrom = [\"\\u001b[31m\"]\nprotocol = \"\\u0007\"\naction = \"deny\"\n");
  ASSERT_EQ(faults.size(), 2U);
  for (const std::string& fault : faults) {
    EXPECT_TRUE(std::ranges::none_of(fault, [](char c) { return c >= 0 && c < ' '; })) << fault;
  }
}

TEST(FirewallConfig, a_rule_of_too_many_combinations_is_refused) {
  std::string rule =
      "[[rule]]\nprotocol = \"tcp\"\nsource_ports = [\"1-65534\"]\n"
      "ports = [\"1-65534\"]\naction = \"allow\"\nfrom = [";
  for (int i = 0; i < 80; ++i) rule += "\"10." + std::to_string(i) + ".0.0/16\",";
  const std::vector<std::string> faults = faults_of(kTwoPorts + rule + "]\n");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults[0].find("too many combinations"), std::string::npos);
}

TEST(FirewallConfig, a_wire_has_no_addresses_and_only_a_wire_passes_other_ethertypes) {
  EXPECT_TRUE(faults_of("[firewall]\nwire = true\n[[port]]\n[[port]]\n").empty());
  EXPECT_EQ(faults_of("[firewall]\nwire = true\n[[port]]\n").size(), 1U);
  EXPECT_EQ(faults_of("[firewall]\nwire = true\n" + kTwoPorts).size(), 2U);
  EXPECT_EQ(faults_of("[firewall]\npass_other_ethertypes = true\n" + kTwoPorts).size(), 1U);
}

TEST(FirewallConfig, what_cannot_change_while_packets_flow_is_told) {
  const auto config = [](const std::string& text) { return *parse_config(text).config; };
  const Config running = config("[firewall]\nconnections = 100\n" + kTwoPorts);
  EXPECT_TRUE(refused_changes(running, config("[firewall]\nconnections = 100\n"
                                              "without_rule = \"reject\"\npick_up = false\n" +
                                              kTwoPorts +
                                              "[timeouts]\nudp = 9\n[[rule]]\n"
                                              "action = \"deny\"\n"))
                  .empty());
  EXPECT_EQ(refused_changes(running, config("[firewall]\nconnections = 101\nstateful = true\n"
                                            "log_per_second = 11\n" +
                                            kTwoPorts))
                .size(),
            2U);
  EXPECT_EQ(refused_changes(running, config("[firewall]\nstateful = false\n" + kTwoPorts)).size(),
            2U);
}

}  // namespace
}  // namespace roost::firewall
