// What the modes of services ask of a configuration.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/lb/nat64_config.h"
#include "tests/lb/refused_config.h"

namespace roost::lb {
namespace {

TEST(config, refuses_modes_that_the_rest_cannot_serve) {
  const std::string name = "name = \"dns\"\n";
  const std::string dns_backend = "backends = [{name = \"b1\", address = \"10.0.0.11\"}]\n";
  const auto fullnat = [](const std::string& lines) { return "[fullnat] #!\n" + lines; };
  for (const BadFile& bad : std::vector<BadFile>{
           {name, name + "mode = \"dsr\" #!\n",
            "is none; give one of nat, fullnat, l2dsr, ipip, gue"},
           {name, name + "mode = 1 #!\n", "mode"},
           {"[[service]]\n" + name, "[[service]] #!\n" + name + "mode = \"fullnat\"\n",
            "needs an address to speak from"},
           {dns_backend,
            "mode = \"gue\"\nbackends = [{name = \"b1\", address = \"10.0.0.11\", port = 54}] #!\n",
            "so its port cannot be 54; give the service's, 53"},
           {dns_backend,
            "mode = \"l2dsr\"\nbackends = [{name = \"b1\", address = \"10.9.9.9\"}] #!\n"
            "[[route]]\nprefix = \"10.9.9.0/24\"\nvia = \"10.0.0.254\"\n",
            "reaches stations of connected networks only"},
           {"", fullnat(""), "has no addresses; add"},
           {"", fullnat("addresses = [\"10.0.0.100\", \"10.0.0.100\"]\n"), "is given twice"},
           {"", fullnat("addresses = [\"198.51.100.80\"]\n"),
            "is the virtual address of [[service]] web"},
           {"", fullnat("addresses = [\"10.0.0.12\"]\n"), "is the address of the backend b2"},
           {"", "[fullnat]\naddresses = [\"10.0.0.300\"] #!\n", "is no address"},
           {"", "[fullnat]\naddresses = []\nports = [0, 5] #!\n", "the first and the last one"},
           {"", "[fullnat]\naddresses = []\nports = [9, 5] #!\n", "the first and the last one"},
           {"", "[fullnat]\naddresses = []\nports = [9] #!\n", "the first and the last one"},
           {"", "[fullnat]\naddresses = []\nports = [9, 65536] #!\n", "the first and the last one"},
           {"", "[lb]\ngue_port = 0 #!\n", "gue_port"}}) {
    expect_refused(bad);
  }
}

// What is wrong with IPv4 backends of an IPv6 service.
TEST(config, refuses_versions_that_nothing_translates) {
  const std::string dns6 =
      "name = \"dns6\"\naddress = \"2001:db8:ffff::53\"\nport = 53\nprotocol = \"udp\"\n"
      "backends = [{name = \"b1\", address = \"2001:db8:2::11\"}]\n";
  const auto service = [](const std::string& mode, const std::string& mark) {
    return "name = \"dns6\"\naddress = \"2001:db8:ffff::53\"\nport = 53\nprotocol = \"udp\"\n" +
           mode + "backends = [{name = \"b1\", address = \"10.0.0.11\"}]" + mark + "\n";
  };
  const std::string fullnat = "mode = \"fullnat\"\n";
  const std::string web = "{name = \"b1\", address = \"10.0.0.11\", port = 8080},\n";
  for (const BadFile& bad : std::vector<BadFile>{
           {dns6, service("", " #!"), "give the service mode fullnat, which translates"},
           {dns6, service("mode = \"l2dsr\"\n", " #!"), "of another family than the service's"},
           {dns6, service(fullnat, " #!"), "give one in [fullnat] nat64_addresses"},
           {dns6, service(fullnat, " #!") + "[fullnat]\naddresses = [\"10.0.0.100\"]\n",
            "give one in [fullnat] nat64_addresses"},
           {web, "{name = \"b1\", address = \"2001:db8:2::11\", port = 8080}, #!\n",
            "only IPv4 backends of IPv6 services"},
           {"", "[fullnat] #!\nnat64_addresses = [\"2001:db8:2::100\"]\n", "is an IPv6 address"},
           {"", "[fullnat] #!\nnat64_addresses = [\"10.0.0.12\"]\n",
            "nat64_addresses: 10.0.0.12 is the address of the backend b2"},
           {"", "[fullnat] #!\nnat64_addresses = [\"198.51.100.80\"]\n",
            "is the virtual address of [[service]] web"},
           {"", "[fullnat] #!\naddresses = [\"10.0.0.100\"]\nnat64_addresses = [\"10.0.0.100\"]\n",
            "nat64_addresses: 10.0.0.100 is given twice"},
           {"", "[fullnat] #!\nnat64_addresses = [\"127.0.0.1\"]\n", "is no address of a station"},
           {"", "[fullnat]\nnat64_addresses = [\"10.0.0\"] #!\n",
            "nat64_addresses: \"10.0.0\" is no address"}}) {
    expect_refused(bad);
  }
  const ConfigOutcome outcome = parse_config(test_config(dns6, service(fullnat, "")) +
                                             "[fullnat]\nnat64_addresses = [\"10.0.0.100\"]\n");
  ASSERT_TRUE(outcome.config.has_value()) << "no other local address is needed";
  EXPECT_EQ(outcome.config->fullnat.nat64_addresses.at(0).format(), "10.0.0.100");
}

TEST(config, refuses_ports_that_do_not_carry_what_ipv6_promises) {
  for (const auto& [mtu, is_good] : {std::pair(1'279, false), {1'280, true}}) {
    std::string toml = nat64_config();
    const std::string addresses = "addresses = [\"10.0.0.1/24\", \"2001:db8:2::1/64\"]\n";
    toml.replace(toml.find(addresses), addresses.size(),
                 "addresses = [\"10.0.0.1/24\"]\nmtu = " + std::to_string(mtu) + "\n");
    for (const std::string address : {"2001:db8:2::11", "2001:db8:2::12"}) {
      const size_t at = toml.find("[[neighbour]]\naddress = \"" + address);
      toml.erase(at, toml.find("[[", at + 2) - at);
    }
    const ConfigOutcome outcome = parse_config(toml);
    EXPECT_EQ(outcome.config.has_value(), is_good);
    for (const config::Fault& fault : outcome.faults) {
      EXPECT_NE(fault.text.find("make it 1280 or more"), std::string::npos) << fault.text;
    }
  }
}

TEST(config, refuses_marks_that_lead_nowhere) {
  const std::string dns_backend = "backends = [{name = \"b1\", address = \"10.0.0.11\"}]\n";
  const std::string dsr = "mode = \"l2dsr\"\n";
  const std::string check = "check = {kind = \"dns\", name = \"a.test\"}\n";
  const std::string marked = "{name = \"b1\", address = \"10.0.0.11\", check_mark = 7}";
  const std::vector<std::pair<std::string, std::string>> faults = {
      {check + "backends = [" + marked + "] #!\n", "in mode nat it gets packets"},
      {dsr + "backends = [" + marked + "] #!\n", "the service has none"},
      {dsr + check + "backends = [{name = \"b1\", address = \"10.0.0.11\", check_mark = 0}] #!\n",
       "check_mark: 0 is out of range"},
      {dsr + check + "backends = [" + marked + ",\n{name = \"b2\", address = \"10.0.0.12\"}] #!\n",
       "it has no check_mark"},
      {dsr + check + "backends = [" + marked +
           ",\n{name = \"b2\", address = \"10.0.0.12\", check_mark = 7}] #!\n",
       "check_mark 7 is that of the backend of line"}};
  for (const auto& [by, fault] : faults) expect_refused({dns_backend, by, fault});
  const ConfigOutcome outcome =
      parse_config(test_config(dns_backend, dsr + check + "backends = [" + marked + "]\n"));
  ASSERT_TRUE(outcome.config.has_value());
  const auto dns = std::ranges::find(outcome.config->services, "dns", &ServiceConfig::name);
  EXPECT_EQ(dns->backends[0].check_mark, 7U);
}

TEST(config, refuses_a_tunnel_from_a_port_without_an_address_or_room) {
  for (const auto& [port, fault] : std::vector<std::pair<std::string, std::string>>{
           {"addresses = [\"10.0.0.1/24\", \"2001:db8:2::1/64\"]\nmtu = 1331",
            "adds 52 bytes, which leaves too little of the mtu"},
           {"addresses = [\"10.0.0.1/24\", \"2001:db8:2::1/64\"]\nmtu = 1332", ""}}) {
    std::string toml = test_config("addresses = [\"10.0.0.1/24\", \"2001:db8:2::1/64\"]", port);
    const std::string name = "name = \"dns6\"\n";
    toml.replace(toml.find(name), name.size(), name + "mode = \"gue\"\n");
    const ConfigOutcome outcome = parse_config(toml);
    EXPECT_EQ(outcome.config.has_value(), fault.empty()) << port;
    ASSERT_EQ(outcome.faults.size(), fault.empty() ? 0U : 1U);
    EXPECT_TRUE(fault.empty() || outcome.faults[0].text.find(fault) != std::string::npos);
  }
  const std::string own = "addresses = [\"192.0.2.1/24\", \"2001:db8:1::1/64\"]";
  std::string toml = test_config(own, "addresses = [\"192.0.2.1/24\"]");
  const std::string neighbour =
      "[[neighbour]]\naddress = \"2001:db8:1::10\"\nmac = \"02:00:00:00:01:10\"\n";
  toml.replace(toml.find(neighbour), neighbour.size(), "");
  ASSERT_TRUE(parse_config(toml).config.has_value());
  const std::string name = "name = \"dns6\"\n";
  toml.replace(toml.find(name), name.size(), name + "mode = \"ipip\"\n");
  const ConfigOutcome outcome = parse_config(toml);
  ASSERT_EQ(outcome.faults.size(), 1U);
  EXPECT_NE(outcome.faults[0].text.find("an IPv6 address"), std::string::npos);
}

TEST(config, reads_a_services_algorithm_and_refuses_others) {
  const std::string name = "name = \"web\"\n";
  const auto outcome = parse_config(test_config(name, name + "algorithm = \"source\"\n"));
  ASSERT_TRUE(outcome.config.has_value());
  EXPECT_EQ(outcome.config->services[0].algorithm, Algorithm::kSource);
  EXPECT_EQ(outcome.config->services[1].algorithm, Algorithm::kMaglev);
  expect_refused({name, name + "algorithm = \"ring\" #!\n",
                  "is none; give one of maglev, source, least_connections"});
}

TEST(config, reads_modes_and_local_ports) {
  const std::string name = "name = \"web\"\n";
  const auto outcome = parse_config(
      test_config(name, name + "mode = \"fullnat\"\n") +
      "[fullnat]\naddresses = [\"10.0.0.100\", \"2001:db8:2::100\"]\nports = [2000, 3000]\n"
      "[lb]\ngue_port = 5555\n");
  ASSERT_TRUE(outcome.config.has_value());
  const Config& config = *outcome.config;
  EXPECT_EQ(config.services[0].mode, Mode::kFullnat);
  EXPECT_EQ(config.services[1].mode, Mode::kNat);
  ASSERT_EQ(config.fullnat.addresses.size(), 2U);
  EXPECT_EQ(config.fullnat.addresses[1].format(), "2001:db8:2::100");
  EXPECT_EQ(config.fullnat.first_port, 2'000);
  EXPECT_EQ(config.fullnat.last_port, 3'000);
  EXPECT_EQ(config.gue_port, 5'555);
}

}  // namespace
}  // namespace roost::lb
