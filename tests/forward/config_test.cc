// The router's configuration: what is wrong is refused with its line and what to do (the comment
// `#!` marks the line), and what may change in a run.
#include "apps/forward/config/config.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/config/fault_at_mark.h"

namespace roost::forward {
namespace {

const std::string kPorts = R"(
[[port]]
addresses = ["192.0.2.1/24", "2001:db8:1::1/64"]
[[port]]
addresses = ["10.0.0.1/24", "2001:db8:2::1/64"]
)";
const std::string kWire = "[[port]]\n[[port]]\n[forward]\nwire = true\n";

std::string route(const std::string& prefix, const std::string& via) {
  return "[[route]]\nprefix = \"" + prefix + "\"\nvia = \"" + via + "\"\n";
}

void expect_refused(const std::string& toml, std::string_view part) {
  const ConfigOutcome outcome = parse_config(toml);
  EXPECT_FALSE(outcome.config.has_value());
  config::expect_fault_at_mark(toml, outcome.faults, part);
}

Config must(const std::string& toml) {
  ConfigOutcome outcome = parse_config(toml);
  for (const config::Fault& fault : outcome.faults) ADD_FAILURE() << fault.line << fault.text;
  return outcome.config.value_or(Config{});
}

TEST(ForwardConfig, says_ports_routes_and_workers) {
  const Config config = must(kPorts + route("203.0.113.0/24", "10.0.0.11") +
                             "[forward]\nworkers = 2\npause_microseconds = 100\nbuffers = 8_192\n"
                             "hash_seed = 7\n");
  EXPECT_EQ(config.network.ports.size(), 2U);
  EXPECT_EQ(config.network.routes.size(), 1U);
  EXPECT_EQ(config.workers.count, 2U);
  EXPECT_EQ(config.workers.pause_microseconds, 100U);
  EXPECT_EQ(config.workers.buffers, 8'192U);
  EXPECT_EQ(must(kPorts).workers.buffers, 4'096U);
  EXPECT_EQ(config.hash_seed, 7U);
  EXPECT_FALSE(config.is_wire);
}

TEST(ForwardConfig, has_room_for_more_routes_than_are_searched_one_by_one) {
  std::string toml = kPorts;
  for (int i = 0; i < 1'000; ++i) {
    toml += route("172." + std::to_string(16 + i / 256) + "." + std::to_string(i % 256) + ".0/24",
                  "10.0.0.11");
  }
  EXPECT_EQ(must(toml).network.routes.size(), 1'000U);
}

TEST(ForwardConfig, a_wire_is_two_ports_and_nothing_else) {
  const Config wire = must(kWire);
  EXPECT_TRUE(wire.is_wire);
  for (const l3::PortConfig& port : wire.network.ports) EXPECT_TRUE(port.promiscuous);
  expect_refused("[[port]] #!\naddresses = [\"192.0.2.1/24\"]\n[[port]]\n[forward]\nwire = true\n",
                 "have no addresses");
  for (const char* more : {"[[port]]\n[[port]]\n[[port]]\n", "[[port]]\n"}) {
    const ConfigOutcome outcome = parse_config(more + std::string("[forward]\nwire = true\n"));
    ASSERT_FALSE(outcome.faults.empty()) << more;
    EXPECT_NE(outcome.faults.front().text.find("two ends"), std::string::npos);
  }
}

TEST(ForwardConfig, what_is_wrong_is_named) {
  expect_refused(kPorts + "[forward]\nwires = true #!\n", "wires");
  expect_refused(kPorts + "[forward]\nworkers = 0 #!\n", "workers");
  expect_refused(kPorts + "[forward]\npause_microseconds = 10_001 #!\n", "pause_microseconds");
  expect_refused(kPorts + "[forward]\nbuffers = 4_095 #!\n", "buffers");
  expect_refused(kPorts + "[forward]\nbuffers = 131_073 #!\n", "buffers");
  expect_refused("[[port]] #!\n[[port]]\n", "addresses");
  expect_refused(kPorts + "[[route]] #!\nprefix = \"203.0.113.0/24\"\nvia = \"198.18.0.1\"\n",
                 "is on no port's network");
}

TEST(ForwardConfig, routes_may_change_in_a_run_and_nothing_else) {
  const Config running = must(kPorts + route("203.0.113.0/24", "10.0.0.11"));
  EXPECT_TRUE(
      refused_changes(running, must(kPorts + route("198.51.100.0/24", "10.0.0.12"))).empty());
  std::string other_port = kPorts;
  other_port.replace(other_port.find("10.0.0.1/24"), 11, "10.0.0.2/24");
  for (const std::string& toml :
       {other_port, kPorts + "[forward]\nworkers = 2\n",
        kPorts + "[forward]\npause_microseconds = 100\n", kPorts + "[forward]\nbuffers = 8_192\n",
        kWire, "tick_seconds = 2\n" + kPorts,
        kPorts + "[control]\nmetrics = \"127.0.0.1:9180\"\n"}) {
    EXPECT_FALSE(refused_changes(running, must(toml)).empty()) << toml;
  }
}

}  // namespace
}  // namespace roost::forward
