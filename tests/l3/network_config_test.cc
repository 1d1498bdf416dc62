// The network's part of a configuration: wrong ports, neighbours and routes are refused with the
// line and what to do. In each of them the comment `#!` marks the line that must be named.
#include "roost/l3/network_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "roost/config/comparison.h"
#include "roost/config/toml_file.h"
#include "tests/config/fault_at_mark.h"

namespace roost::l3 {
namespace {

const std::string kMac1 = "mac = \"02:00:00:00:00:01\"";
const std::string kAddresses1 = "addresses = [\"192.0.2.1/24\", \"2001:db8:1::1/64\"]";
const std::string kGood = R"(
[[port]]
addresses = ["192.0.2.1/24", "2001:db8:1::1/64"]
mac = "02:00:00:00:00:01"
[[port]]
addresses = ["10.0.0.1/24", "2001:db8:2::1/64"]
[[neighbour]]
address = "192.0.2.10"
mac = "02:00:00:00:01:10"
[[neighbour]]
address = "192.0.2.11"
mac = "02:00:00:00:01:11"
)";

config::Outcome<NetworkConfig> read(const std::string& text) {
  return config::parse(text, [](config::TomlTable& top, std::vector<config::Fault>& faults) {
    NetworkConfig network = read_network(top, faults);
    top.refuse_unknown_keys();
    return network;
  });
}

struct BadFile {
  std::string replace;  // in kGood; empty: `by` is put at its end
  std::string by;       // with a mark
  std::string fault;    // a part of the message
};

void expect_refused(const BadFile& bad) {
  SCOPED_TRACE(bad.by);
  std::string toml = kGood;
  if (bad.replace.empty()) {
    toml += bad.by;
  } else {
    ASSERT_NE(toml.find(bad.replace), std::string::npos);
    toml.replace(toml.find(bad.replace), bad.replace.size(), bad.by);
  }
  const config::Outcome<NetworkConfig> outcome = read(toml);
  EXPECT_FALSE(outcome.config.has_value());
  config::expect_fault_at_mark(toml, outcome.faults, bad.fault);
}

TEST(network_config, what_fits_together_is_taken) {
  const auto outcome = read(kGood);
  ASSERT_TRUE(outcome.config.has_value());
  const NetworkConfig& network = *outcome.config;
  const auto ip = [](const char* text) { return net::IpAddress::parse(text).value(); };
  EXPECT_EQ(network.find_owner(ip("10.0.0.1")), &network.ports[1]);
  EXPECT_EQ(network.find_owner(ip("10.0.0.2")), nullptr);
  EXPECT_TRUE(network.is_reachable(ip("2001:db8:2::9")));
  EXPECT_FALSE(network.is_reachable(ip("203.0.113.1")));
  // Two addresses of one network on one port, and a network within another one's.
  EXPECT_TRUE(read("[[port]]\naddresses = [\"192.0.2.1/24\", \"192.0.2.2/24\"]\n"
                   "[[port]]\naddresses = [\"192.0.2.130/25\"]\n")
                  .config.has_value());
}

TEST(network_config, refuses_numbers_out_of_range) {
  for (const BadFile& bad :
       std::vector<BadFile>{{kMac1, "mtu = 67 #!", "give an integer from 68 to 65,535"},
                            {kMac1, "mtu = 65_536 #!", "give an integer from 68 to 65,535"},
                            {kMac1, "vlan = [4_095] #!", "give integers from 0 to 4,094"},
                            {kMac1, "vlan = [1, 2, 3] #!", "3 tags; give none, one, or two"}}) {
    expect_refused(bad);
  }
}

TEST(network_config, refuses_addresses_that_cannot_be) {
  for (const BadFile& bad : std::vector<BadFile>{
           {kMac1, "mac = \"02:00:00:00:00\" #!", "is no MAC address; write six pairs"},
           {kMac1, "mac = \"03:00:00:00:00:01\" #!", "not the MAC of one station"},
           {kMac1, "mac = \"00:00:00:00:00:00\" #!", "not the MAC of one station"},
           {kAddresses1, "addresses = [\"192.0.2.1\"] #!", "no address with its network's length"},
           {kAddresses1, "addresses = [\"192.0.2.1/33\"] #!", "no address with its network's"},
           {kAddresses1, "addresses = [] #!", "none is given; give at least one"},
           {"[[port]]\n" + kAddresses1, "[[port]] #!\naddresses = [\"192.0.2.0/24\"]",
            "192.0.2.0/24 is the network, not an address in it; set the host bits"},
           {"[[port]]\n" + kAddresses1, "[[port]] #!\naddresses = [\"192.0.2.255/24\"]",
            "is the network's broadcast address"},
           {"[[port]]\n" + kAddresses1, "[[port]] #!\naddresses = [\"2001:db8:1::/64\"]",
            "is the network, not an address in it"},
           {"[[port]]\n" + kAddresses1, "[[port]] #!\naddresses = [\"192.0.2.1/0\"]",
            "holds every address"},
           {"[[port]]\n" + kAddresses1, "[[port]] #!\naddresses = [\"127.0.0.1/8\"]",
            "is no address of a station"},
           {"[[port]]\n" + kAddresses1, "[[port]] #!\nmtu = 1279\n" + kAddresses1,
            "IPv6 asks for 1280 or more"}}) {
    expect_refused(bad);
  }
}

TEST(network_config, refuses_what_is_there_twice) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"[[port]]\naddresses = [\"10.0.0.1/24\"", "[[port]] #!\naddresses = [\"192.0.2.1/25\"",
            "the address is given in line 2 already"},
           {"[[port]]\naddresses = [\"10.0.0.1/24\"", "[[port]] #!\naddresses = [\"192.0.2.2/24\"",
            "its network is connected to the port of line 2 already"},
           {"[[neighbour]]\naddress = \"192.0.2.11\"", "[[neighbour]] #!\naddress = \"192.0.2.10\"",
            "[[neighbour]] 192.0.2.10 is given in line 7 already; remove one"},
           {"[[port]]\naddresses = [\"10.0.0.1/24\"",
            "default_neighbour_mac = \"02:00:00:00:00:fd\"\n[[port]] #!\n"
            "default_neighbour_mac = \"02:00:00:00:00:fe\"\naddresses = [\"10.0.0.1/24\"",
            "the port of line 2 has one already"}}) {
    expect_refused(bad);
  }
}

TEST(network_config, refuses_neighbours_that_nobody_can_reach) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"[[neighbour]]\naddress = \"192.0.2.11\"", "[[neighbour]] #!\naddress = \"192.0.3.11\"",
            "is on no port's network"},
           {"[[neighbour]]\naddress = \"192.0.2.11\"", "[[neighbour]] #!\naddress = \"192.0.2.1\"",
            "is the address of the port of line 2"}}) {
    expect_refused(bad);
  }
}

TEST(network_config, refuses_routes_that_lead_nowhere) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"", "[[route]] #!\nvia = \"192.0.2.254\"\n", "has no prefix; add"},
           {"", "[[route]] #!\nprefix = \"0.0.0.0/0\"\n", "has no via; add"},
           {"", "[[route]]\nprefix = \"0.0.0.0\" #!\nvia = \"192.0.2.254\"\n",
            "is no prefix; write"},
           {"", "[[route]] #!\nprefix = \"0.0.0.0/0\"\nvia = \"2001:db8:1::fe\"\n",
            "is of another family"},
           {"", "[[route]] #!\nprefix = \"0.0.0.0/0\"\nvia = \"203.0.113.1\"\n",
            "is on no port's network"},
           {"", "[[route]] #!\nprefix = \"0.0.0.0/0\"\nvia = \"192.0.2.1\"\n",
            "a gateway is somebody else"},
           {"", "[[route]] #!\nprefix = \"203.0.113.9/24\"\nvia = \"192.0.2.254\"\n",
            "names an address, not a network"},
           {"",
            "[[route]]\nprefix = \"::/0\"\nvia = \"2001:db8:1::fe\"\n"
            "[[route]] #!\nprefix = \"::/0\"\nvia = \"2001:db8:1::ff\"\n",
            "already; remove one"},
           {"", "[[route]]\nprefix = \"0.0.0.0/0\"\nvia = \"192.0.2.254\"\nmac = 1 #!\n",
            "unknown key"}}) {
    expect_refused(bad);
  }
}

TEST(network_config, a_running_function_keeps_its_network) {
  const NetworkConfig running = *read(kGood).config;
  const auto refused = [&](const std::string& toml) {
    config::Comparison comparison("the router");
    compare_network(running, *read(toml).config, comparison);
    return config::error_of(comparison.take(), "file").message;
  };
  EXPECT_EQ(refused(kGood), "");
  EXPECT_EQ(refused("\n\n" + kGood), "") << "where things stand is nothing that they are";
  EXPECT_NE(refused(kGood + "[[route]]\nprefix = \"0.0.0.0/0\"\nvia = \"192.0.2.254\"\n")
                .find("[[route]] cannot change while the router runs"),
            std::string::npos);
  EXPECT_NE(refused(kGood + "[[port]]\naddresses = [\"172.16.0.1/24\"]\n")
                .find("the number of [[port]]s"),
            std::string::npos);
}

}  // namespace
}  // namespace roost::l3
