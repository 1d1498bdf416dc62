// The NAT's configuration: what is wrong is refused with its line and what to do (the comment `#!`
// marks the line), and what may change in a run.
#include "apps/nat/config/config.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/config/fault_at_mark.h"

namespace roost::nat {
namespace {

const std::string kSides = R"(
[[port]]
addresses = ["10.0.0.1/24"]
inside = true
[[port]]
addresses = ["192.0.2.1/24"]
)";
const std::string kNat = "[nat]\nexternal = [\"192.0.2.1\", \"192.0.2.2\"]\n";

std::string forward(const std::string& external, const std::string& inside,
                    const std::string& mark = "") {
  return "[[forward]]" + (mark.empty() ? "" : "  " + mark) + "\nprotocol = \"tcp\"\nexternal = \"" +
         external + "\"\ninside = \"" + inside + "\"\n";
}

void expect_fault(const std::string& toml, std::string_view part) {
  const ConfigOutcome outcome = parse_config(toml);
  EXPECT_FALSE(outcome.config.has_value()) << toml;
  config::expect_fault_at_mark(toml, outcome.faults, part);
}

Config good(const std::string& toml) {
  ConfigOutcome outcome = parse_config(toml);
  for (const config::Fault& fault : outcome.faults) ADD_FAILURE() << fault.line << fault.text;
  return outcome.config.value_or(Config{});
}

TEST(NatConfig, defaults_are_those_of_the_rfcs) {
  const Config config = good(kNat + kSides);
  EXPECT_EQ(config.tick_seconds(), 8);
  const auto seconds = [&](conntrack::ConnectionState state) {
    return config.timeouts[static_cast<size_t>(state)] * config.tick_seconds();
  };
  using enum conntrack::ConnectionState;
  EXPECT_EQ(seconds(kEstablished), 7'440);
  EXPECT_EQ(seconds(kSynSent), 240);
  EXPECT_EQ(seconds(kReset), 240);
  EXPECT_GE(seconds(kUdp), 300);
  EXPECT_LT(seconds(kUdp), 308);
  EXPECT_GE(seconds(kEcho), 60);
  EXPECT_EQ(config.filtering, Filtering::kEndpointIndependent);
  EXPECT_EQ(config.first_port, 1'024);
  EXPECT_EQ(config.last_port, 65'535);
  EXPECT_FALSE(config.routes_ipv6);
}

TEST(NatConfig, reads_all_keys) {
  const Config config =
      good(kNat +
           "ports = [2000, 2999]\nports_per_host = 64\nfiltering = \"address\"\nipv6 = \"route\"\n"
           "connections = 5000\nworkers = 2\nhash_seed = 3\n" +
           forward("192.0.2.2:80", "10.0.0.5:8080") + kSides + "inside = false\n");
  EXPECT_EQ(config.first_port, 2'000);
  EXPECT_EQ(config.last_port, 2'999);
  EXPECT_EQ(config.ports_per_host, 64U);
  EXPECT_EQ(config.filtering, Filtering::kAddress);
  EXPECT_TRUE(config.routes_ipv6);
  ASSERT_EQ(config.forwards.size(), 1U);
  EXPECT_EQ(config.forwards[0].external.port, 80);
  EXPECT_EQ(config.forwards[0].inside.port, 8'080);
}

TEST(NatConfig, refuses_what_cannot_be) {
  expect_fault("[nat]  #!\n" + kSides, "has no external");
  expect_fault("[nat]\nexternal = [  #!\n]\n" + kSides, "give 1 to 256");
  expect_fault("[nat]\nexternal = [\n\"192.0.2\"]  #!\n" + kSides, "is no IPv4 address");
  expect_fault("[nat]\nexternal = [\"192.0.2.1\",\n\"192.0.2.1\"]  #!\n" + kSides, "twice");
  expect_fault("[nat]\nexternal = [\"10.0.0.1\"]  #!\n" + kSides, "inside [[port]]");
  expect_fault("[nat]\nexternal = [\"224.0.0.1\"]  #!\n" + kSides, "no packet may come from");
  expect_fault(kNat + "ports = [80, 90]  #!\n" + kSides, "no port that mappings may take");
  expect_fault(kNat + "ports = [2000]  #!\n" + kSides, "the first and the last one");
  expect_fault(kNat + "filtering = \"none\"  #!\n" + kSides, "filtering");
  expect_fault(kNat + "[timeouts]\nother = 3  #!\n" + kSides, "other");
}

TEST(NatConfig, refuses_forwards_that_contradict_each_other) {
  expect_fault(kNat + forward("192.0.2.9:80", "10.0.0.5:80", "#!") + kSides, "none of [nat]");
  expect_fault(kNat + forward("192.0.2.1:80", "10.0.0.5:80") +
                   forward("192.0.2.1:80", "10.0.0.6:80", "#!") + kSides,
               "the same port");
  expect_fault(kNat + forward("192.0.2.1:80", "10.0.0.5:80") +
                   forward("192.0.2.1:81", "10.0.0.5:80", "#!") + kSides,
               "the same endpoint");
  expect_fault(kNat + forward("192.0.2.1:80", "10.0.0.5:80") +
                   forward("192.0.2.2:81", "10.0.0.5:81", "#!") + kSides,
               "a host has one");
  expect_fault(kNat + forward("192.0.2.1:80", "172.16.0.5:80", "#!") + kSides, "no [[route]]");
  for (const char* wrong : {"192.0.2.1", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:x", ":80"}) {
    std::string text = kNat + "[[forward]]\nprotocol = \"udp\"\nexternal = \"";
    text += wrong;
    text += "\"  #!\ninside = \"10.0.0.5:80\"\n" + kSides;
    expect_fault(text, "is no IPv4 address with a port");
  }
}

TEST(NatConfig, needs_ports_on_both_sides) {
  const ConfigOutcome outcome =
      parse_config(kNat + "[[port]]\naddresses = [\"10.0.0.1/24\"]\ninside = true\n");
  ASSERT_FALSE(outcome.config);
  EXPECT_NE(outcome.faults.front().text.find("both sides"), std::string::npos);
}

TEST(NatConfig, a_reload_changes_routes_forwards_and_limits_only) {
  const Config running = good(kNat + kSides);
  EXPECT_TRUE(refused_changes(running, good(kNat + "ports_per_host = 9\n" +
                                            forward("192.0.2.1:80", "10.0.0.5:80") + kSides +
                                            "[[route]]\nprefix = \"0.0.0.0/0\"\nvia = "
                                            "\"192.0.2.254\"\n[timeouts]\nudp = 400\n"))
                  .empty());
  for (const char* change : {"ports = [2000, 3000]\n", "filtering = \"address\"\n",
                             "ipv6 = \"route\"\n", "connections = 7\n", "hash_seed = 4\n"}) {
    std::string text = kNat;
    text += change;
    text += kSides;
    EXPECT_EQ(refused_changes(running, good(text)).size(), 1U) << change;
  }
  EXPECT_FALSE(
      refused_changes(running, good("[nat]\nexternal = [\"192.0.2.1\"]\n" + kSides)).empty());
  EXPECT_FALSE(refused_changes(running, good("tick_seconds = 9\n" + kNat + kSides)).empty());
}

}  // namespace
}  // namespace roost::nat
