// Wrong configuration files are refused with the line and what to do. In each of them the comment
// `#!` marks the line that must be named.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/lb/refused_config.h"

namespace roost::lb {
namespace {

const std::string kMac1 = "mac = \"02:00:00:00:00:01\"";
const std::string kAddresses1 = "addresses = [\"192.0.2.1/24\", \"2001:db8:1::1/64\"]";
const std::string kWeb = "address = \"198.51.100.80\"";
const std::string kB1 = "{name = \"b1\", address = \"10.0.0.11\", port = 8080},";
const std::string kB2 = "{name = \"b2\", address = \"10.0.0.12\", port = 8080, weight = 2},";

TEST(config, refuses_checks_that_cannot_be) {
  const auto with_check = [](const std::string& check) {
    return BadFile{"name = \"web\"\n", "name = \"web\"\ncheck = " + check + " #!\n", ""};
  };
  for (const auto& [check, fault] : std::vector<std::pair<std::string, std::string>>{
           {"{}", "kind"},
           {"{kind = \"ping\"}", "give one of tcp, http, https, udp, dns"},
           {"{kind = \"tcp\", path = \"/\"}", "check path: a check of kind tcp has none"},
           {"{kind = \"tcp\", status = 200}", "give kind = \"http\" or \"https\""},
           {"{kind = \"http\", verify = false}", "give kind = \"https\""},
           {"{kind = \"udp\"}", "check has no send"},
           {"{kind = \"udp\", send = \"\"}", "0 bytes"},
           {"{kind = \"udp\", send = []}", "0 bytes"},
           {"{kind = \"udp\", send = [256]}", "give integers from 0 to 255"},
           {"{kind = \"udp\", send = 7}", "check send: this is an integer"},
           {"{kind = \"udp\", send = \"x\", body = \"y\"}", "a check of kind udp has none"},
           {"{kind = \"tcp\", send = \"x\"}", "give kind = \"udp\""},
           {"{kind = \"dns\"}", "check has no name"},
           {"{kind = \"dns\", name = \"\"}", "is no name of DNS"},
           {"{kind = \"dns\", name = \"a..b\"}", "is no name of DNS"},
           {"{kind = \"dns\", name = \".a\"}", "is no name of DNS"},
           {"{kind = \"dns\", name = \"" + std::string(64, 'a') + "\"}", "is no name of DNS"},
           {"{kind = \"dns\", name = \"a b\"}", "is no name of DNS"},
           {"{kind = \"dns\", name = \"a\", type = \"PTR\"}", "give one of A, AAAA"},
           {"{kind = \"dns\", name = \"a\", rcode = \"OK\"}", "give one of NOERROR"},
           {"{kind = \"https\", verify = 0}", "true or false"},
           {"{kind = \"https\", ca = \"ca.pem\"}", "is no file's path"},
           {"{kind = \"https\", verify = false, ca = \"/ca.pem\"}", "no certificate is verified"},
           {"{kind = \"http\", status = 99}", "status"},
           {"{kind = \"http\", status = \"200-\"}", "status"},
           {"{kind = \"http\", status = \"399-200\"}", "status"},
           {"{kind = \"http\", status = \"200-300-400\"}", "status"},
           {"{kind = \"http\", status = \"ok\"}", "status"},
           {"{kind = \"http\", status = []}", "status"},
           {"{kind = \"http\", status = [200, 2.5]}", "status"},
           {"{kind = \"http\", status = [[200]]}", "status"},
           {"{kind = \"http\", body = \"\"}", "0 bytes"},
           {"{kind = \"http\", body = \"" + std::string(1'025, 'x') + "\"}", "1025 bytes"},
           {"{kind = \"http\", method = \"POST\"}", "give one of GET, HEAD"},
           {"{kind = \"http\", method = \"HEAD\", body = \"x\"}", "the answer to HEAD has none"},
           {"{kind = \"http\", host = \"\"}", "is no host's name"},
           {"{kind = \"http\", host = \"a:80\"}", "is no host's name"},
           {"{kind = \"http\", host = \"a\\r\\nb\"}", "is no host's name"},
           {"{kind = \"http\", host = \".a\"}", "is no host's name"},
           {"{kind = \"http\", path = \"health\"}", "is no path"},
           {"{kind = \"http\", path = \"/a b\"}", "is no path"},
           {"{kind = \"tcp\", every_seconds = 0}", "too short"},
           {"{kind = \"tcp\", timeout_seconds = nan}", "too short"},
           {"{kind = \"tcp\", rise = 0}", "rise"},
           {"{kind = \"tcp\", falls = 3}", "falls"},
           {"\"tcp\"", "check"},
       }) {
    BadFile bad = with_check(check);
    bad.fault = fault;
    expect_refused(bad);
  }
}

TEST(config, refuses_a_control_section_that_cannot_be) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"", "[control]\nsocket = \"lb.sock\" #!\n", "cannot be a socket's path"},
           {"", "[control]\nsocket = \"/" + std::string(100, 'x') + "\" #!\n", "100 bytes"},
           {"", "[control]\nsocket = 7 #!\n", "[control] socket"},
           {"", "[control]\nsocket = \"/s\"\nmode = \"0999\" #!\n", "is no mode"},
           {"", "[control]\nsocket = \"/s\"\nmode = \"01777\" #!\n", "is no mode"},
           {"", "[control]\nmetrics = \"localhost:9100\" #!\n", "no address and port"},
           {"", "[control]\nmetrics = \"127.0.0.1\" #!\n", "no address and port"},
           {"", "[control]\nmetrics = \"::1:9100\" #!\n", "no address and port"},
           {"", "[control]\nmetrics = \"127.0.0.1:99999\" #!\n", "no address and port"},
           {"", "[control]\nsockets = \"/s\" #!\n", "sockets"},
       }) {
    expect_refused(bad);
  }
}

TEST(config, refuses_what_is_no_toml) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"", "what is this #!\n", "not TOML"},
           {"", "[table] #!\n", "not TOML"},
           {"maglev_seed = 1", "maglev_seed = 1\nmaglev_seed = 2 #!", "not TOML"},
       }) {
    expect_refused(bad);
  }
}

TEST(config, refuses_unknown_keys_everywhere) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"tick_seconds = 1.0", "tick_second = 1.0 #!", "unknown key \"tick_second\" at the top"},
           {"connections = 4_096", "conections = 4_096 #!", "known here are connections"},
           {kMac1, kMac1 + "\nmacs = 1 #!", "unknown key \"macs\" in [[port]]"},
           {"mac = \"02:00:00:00:01:10\"", "mac = \"02:00:00:00:01:10\"\nport = 1 #!",
            "in [[neighbour]]"},
           {kWeb, kWeb + "\nbackend = 1 #!", "in [[service]]"},
           {kB1, "{name = \"b1\", address = \"10.0.0.11\", wieght = 3}, #!",
            "unknown key \"wieght\" in backend"},
           {"", "[timeouts]\ntcp = 3 #!\n", "known here are tcp_closed, tcp_closing"},
           {"", "[lb]\nverify = true #!\n", "in [lb]"},
           {"", "[ports] #!\n", "unknown key \"ports\""},
       }) {
    expect_refused(bad);
  }
}

TEST(config, refuses_wrong_types) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"tick_seconds = 1.0", "tick_seconds = \"1\" #!", "this is a string; give a number"},
           {"maglev_seed = 1", "maglev_seed = 1.5 #!", "a decimal number; give an integer"},
           {"connections = 4_096", "connections = [1] #!", "this is an array; give an integer"},
           {kMac1, "mac = 2 #!", "an integer; give a string in quotes"},
           {kMac1, "promiscuous = 1 #!", "give true or false"},
           {kMac1, "rss = true #!", "give a string in quotes"},
           {kMac1, "rss = \"client\" #!", "give one of both, source, destination"},
           {kAddresses1, "addresses = \"192.0.2.1/24\" #!", "give an array"},
           {kAddresses1, "addresses = [1] #!", "no address with its network's length"},
           {kMac1, "vlan = [\"100\"] #!", "not a VLAN identifier"},
           {"", "timeouts = [[1]] #!\n", "give a table"},
           {"backends = [{name = \"b1\", address = \"10.0.0.11\"}]", "backends = [7] #!",
            "an element is an integer"},
           {"backends = [{name = \"b1\", address = \"10.0.0.11\"}]", "backends = 7 #!",
            "this is an integer; give tables"},
       }) {
    expect_refused(bad);
  }
  const ConfigOutcome outcome = parse_config("port = 1\ntable = 2\nservice = [3]\nlb = 4\n");
  EXPECT_EQ(outcome.faults.size(), 4U);
  EXPECT_EQ(outcome.faults[3].line, 4U);
}

TEST(config, refuses_numbers_out_of_range) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"tick_seconds = 1.0", "tick_seconds = 0 #!", "too short or too long"},
           {"tick_seconds = 1.0", "tick_seconds = nan #!", "too short or too long"},
           {"tick_seconds = 1.0", "tick_seconds = inf #!", "too short or too long"},
           {"tick_seconds = 1.0", "tick_seconds = -1 #!", "too short or too long"},
           {"tick_seconds = 1.0", "tick_seconds = 1.0000005 #!", "at most six decimals"},
           {"maglev_seed = 1", "maglev_seed = -1 #!", "-1 is out of range"},
           {"connections = 4_096", "connections = 15 #!", "give an integer from 16 to "},
           {"connections = 4_096", "connections = 4_294_967_297 #!", "to 4,294,967,296"},
           {"port = 80", "port = 0 #!", "0 is out of range; give an integer from 1 to 65,535"},
           {"port = 80", "port = 65_536 #!", "give an integer from 1 to 65,535"},
           {kB1, "{name = \"b1\", address = \"10.0.0.11\", port = 0}, #!", "from 1 to 65,535"},
           {kB1, "{name = \"b1\", address = \"10.0.0.11\", weight = -1}, #!", "from 0 to 65,535"},
           {kB1, "{name = \"b1\", address = \"10.0.0.11\", weight = 65_536}, #!", "weight: 65536"},
       }) {
    expect_refused(bad);
  }
}

TEST(config, refuses_addresses_and_names_that_cannot_be) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"address = \"192.0.2.11\"", "address = \"192.0.2.11/24\" #!", "without a prefix"},
           {kWeb, "address = \"198.51.100\" #!", "is no address"},
           {"name = \"web\"", "name = \"\" #!", "cannot be a name"},
           {"name = \"web\"", "name = \"a b\" #!", "without spaces"},
           {"name = \"web\"", "name = \"\\u001b[31m\" #!", "\"\\x1b[31m\" cannot be a name"},
           {"protocol = \"tcp\"", "protocol = \"sctp\" #!", "give \"tcp\" or \"udp\""},
       }) {
    expect_refused(bad);
  }
}

TEST(config, refuses_what_is_missing) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"[[port]]\n" + kAddresses1, "[[port]] #!\n", "[[port]] has no addresses; add"},
           {"[[neighbour]]\naddress = \"192.0.2.11\"", "[[neighbour]] #!", "has no address; add"},
           {"[[neighbour]]\naddress = \"192.0.2.11\"\nmac = \"02:00:00:00:01:11\"",
            "[[neighbour]] #!\naddress = \"192.0.2.11\"", "has no mac; add"},
           {"[[service]]\nname = \"web\"", "[[service]] #!", "has no name; add"},
           {kB1, "{address = \"10.0.0.11\"}, #!", "backend has no name; add"},
           {kB1, "{name = \"b1\"}, #!", "backend has no address; add"},
           {"backends = [{name = \"b1\", address = \"10.0.0.11\"}]", "backends = [] #!",
            "none is given; give at least one"},
       }) {
    expect_refused(bad);
  }
  for (const std::string key :
       {"address = \"198.51.100.80\"\n", "port = 80\n", "protocol = \"tcp\"\n"}) {
    const ConfigOutcome outcome = parse_config(test_config(key, ""));
    ASSERT_EQ(outcome.faults.size(), 1U) << key;
    EXPECT_NE(outcome.faults[0].text.find("has no " + key.substr(0, key.find(' ')) + "; add"),
              std::string::npos)
        << outcome.faults[0].text;
  }
  const ConfigOutcome empty = parse_config("");
  ASSERT_EQ(empty.faults.size(), 2U);
  EXPECT_EQ(describe(empty.faults[0], "lb.toml"),
            "lb.toml:1: the file has no port; add a [[port]] for each port, in DPDK's order");
  EXPECT_EQ(describe(empty.faults[1], "lb.toml"),
            "lb.toml:1: the file has no service; add a [[service]]");
}

TEST(config, refuses_what_is_there_twice) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"[[service]]\nname = \"dns\"", "[[service]] #!\nname = \"web\"",
            "the name is given in line"},
           {"",
            "[[service]] #!\nname = \"web2\"\naddress = \"198.51.100.80\"\nport = 80\n"
            "protocol = \"tcp\"\nbackends = [{name = \"b\", address = \"10.0.0.11\"}]\n",
            "address, port and protocol are those of the service of line"},
           {kB2, "{name = \"b1\", address = \"10.0.0.12\", port = 8080}, #!",
            "the name is given in line"},
           {kB2, "{name = \"b2\", address = \"10.0.0.11\", port = 8080}, #!",
            "address and port are those of the backend of line"},
       }) {
    expect_refused(bad);
  }
}

TEST(config, refuses_whom_nobody_can_reach) {
  for (const BadFile& bad : std::vector<BadFile>{
           {kB1, "{name = \"b1\", address = \"10.0.1.11\", port = 8080}, #!",
            "10.0.1.11 is on no port's network"},
           {kB1, "{name = \"b1\", address = \"2001:db8:2::11\", port = 8080}, #!",
            "of another family than the service's 198.51.100.80"},
           {kB1, "{name = \"b1\", address = \"10.0.0.1\", port = 8080}, #!",
            "is the address of the port of line 9"},
           {kB1, "{name = \"b1\", address = \"198.51.100.80\", port = 80}, #!",
            "packets would go in circles"},
           {kB1, "{name = \"b1\", address = \"224.0.0.1\", port = 80}, #!",
            "is no address of a station"},
           {"[[service]]\nname = \"web\"\naddress = \"198.51.100.80\"",
            "[[service]] #!\nname = \"web\"\naddress = \"239.0.0.1\"",
            "is no address of a station"},
       }) {
    expect_refused(bad);
  }
}

TEST(config, refuses_timeouts_above_the_ticks_a_timer_has) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"", "[timeouts]\nudp = 1024 #!\n",
            "more than 1,023 ticks; the largest at this tick_seconds is 1023, or make ticks "
            "longer"},
           {"", "[timeouts]\nudp = 1023.5 #!\n", "more than 1,023 ticks"},
           {"", "[timeouts]\ntcp_established = 0 #!\n", "give seconds, more than 0"},
           {"", "[timeouts]\ntcp_established = -5 #!\n", "give seconds, more than 0"},
           {"", "[timeouts]\ntcp_established = nan #!\n", "give seconds, more than 0"},
           {"tick_seconds = 1.0", "tick_seconds = 0.1 #!",
            "the default of [timeouts] tcp_established would be more than 1,023 ticks; the largest "
            "at this tick_seconds is 102.3"},
       }) {
    expect_refused(bad);
  }
}

TEST(config, names_every_fault_at_once) {
  std::string toml = test_config(kMac1, "mac = 1");
  toml.replace(toml.find("port = 80\n"), 9, "port = 0");
  toml += "[timeouts]\nudp = 5000\nnonsense = 1\n";
  const ConfigOutcome outcome = parse_config(toml);
  EXPECT_FALSE(outcome.config.has_value());
  EXPECT_EQ(outcome.faults.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(outcome.faults, {}, &config::Fault::line));
}

TEST(config, what_is_no_toml_reaches_the_terminal_without_its_control_characters) {
  const ConfigOutcome outcome = parse_config("a = i\x10\x1b[31m\n");
  ASSERT_EQ(outcome.faults.size(), 1U);
  EXPECT_NE(outcome.faults[0].text.find("\\x10"), std::string::npos) << outcome.faults[0].text;
  EXPECT_EQ(outcome.faults[0].text.find('\x10'), std::string::npos);
  EXPECT_EQ(outcome.faults[0].text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace roost::lb
