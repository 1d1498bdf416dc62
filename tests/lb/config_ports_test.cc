// Services of several ports in a configuration: what is read, and what is refused.
#include <gtest/gtest.h>

#include <string>

#include "tests/lb/ranged_balancer.h"
#include "tests/lb/refused_config.h"

namespace roost::lb {
namespace {

TEST(config_ports, are_one_a_range_or_all) {
  const auto read = [](const std::string& port, uint16_t backend_port) {
    const ConfigOutcome outcome = parse_config(ranged_config(kRanged4, port, backend_port));
    EXPECT_EQ(outcome.faults.size(), 0U) << port;
    return outcome.config ? outcome.config->services.back() : ServiceConfig{};
  };
  EXPECT_EQ(read("99", 0).ports, ServicePorts::one(99));
  const ServiceConfig range = read("\"8000-8099\"", 9'000);
  EXPECT_EQ(range.ports, (ServicePorts{8'000, 8'099}));
  EXPECT_EQ(range.backends[0].port, 9'000);
  EXPECT_EQ(read("\"8000-8099\"", 0).backends[0].port, 8'000) << "the service's own";
  EXPECT_EQ(read("\"8000-8099\"", 65'436).backends[0].port, 65'436) << "the last that fits";
  EXPECT_EQ(read("\"any\"", 0).ports, ServicePorts::all());
  EXPECT_EQ(read("\"1-65535\"", 0).ports, ServicePorts::all());
}

TEST(config_ports, are_written_as_they_are_read) {
  const net::IpAddress address = net::IpAddress::parse("2001:db8::1").value();
  EXPECT_EQ(endpoint_text(address, ServicePorts::one(80)), "[2001:db8::1]:80");
  EXPECT_EQ(endpoint_text(address, {8'000, 8'099}), "[2001:db8::1]:8000-8099");
  EXPECT_EQ(endpoint_text(address, ServicePorts::all()), "[2001:db8::1]:any");
}

// Appended to the test configuration; the mark is in what is given.
void expect_refused_service(const std::string& port, const std::string& more,
                            const std::string& backends, const std::string& fault) {
  expect_refused({"",
                  "[[service]]\nname = \"ranged\"\naddress = \"198.51.100.99\"\nprotocol = "
                  "\"udp\"\nport = " +
                      port + "\n" + more + "backends = [\n" + backends + "]\n",
                  fault});
}

TEST(config_ports, refuses_what_says_no_ports) {
  const std::string b1 = "{name = \"b1\", address = \"10.0.0.11\"},\n";
  for (const std::string port :
       {"\"\"", "\"80\"", "\"all\"", "\"80-\"", "\"-80\"", "\"0-80\"", "\"80-80\"", "\"90-80\"",
        "\"80-65536\"", "\"80-99x\"", "\"80 - 99\"", "\"80-90-99\"", "\"+1-5\""}) {
    expect_refused_service(port + " #!", "", b1, "says no ports; give a number, a range");
  }
  expect_refused_service("0 #!", "", b1, "out of range");
  expect_refused_service("80.5 #!", "", b1, "[[service]] port: this is a decimal number");
}

TEST(config_ports, refuses_backends_whose_ports_do_not_fit) {
  expect_refused_service("\"any\"", "", "{name = \"b1\", address = \"10.0.0.11\", port = 80}, #!\n",
                         "leave it out");
  expect_refused_service("\"8000-8099\"", "",
                         "{name = \"b1\", address = \"10.0.0.11\", port = 65437}, #!\n",
                         "give 65436 or less");
  expect_refused_service("\"8000-8099\"", "",
                         "{name = \"b1\", address = \"10.0.0.11\", port = 1},\n"
                         "{name = \"b2\", address = \"10.0.0.11\", port = 100}, #!\n",
                         "address and port are those of the backend");
  expect_refused_service("\"8000-8099\"", "mode = \"l2dsr\"\n",
                         "{name = \"b1\", address = \"10.0.0.11\", port = 9000}, #!\n",
                         "give the service's, 8000");
}

TEST(config_ports, refuses_a_check_that_names_no_port) {
  expect_refused_service("\"8000-8099\"", "check = {kind = \"tcp\"} #!\n",
                         "{name = \"b1\", address = \"10.0.0.11\"},\n",
                         "say which one is asked, as in port = 8000");
}

TEST(config_ports, refuses_ranges_that_overlap_and_takes_one_in_another) {
  const auto ranged = [](const std::string& first, const std::string& second,
                         const std::string& protocol = "tcp") {
    std::string toml = ranged_service(kRanged4, "a", first, 0) +
                       ranged_service(kRanged4, "b", second, 0, protocol);
    return toml.replace(toml.find("[[service]]", 1), 11, "[[service]] #!");
  };
  for (const auto& [first, second] :
       std::vector<std::pair<std::string, std::string>>{{"\"10-20\"", "\"20-30\""},
                                                        {"\"20-30\"", "\"10-20\""},
                                                        {"\"10-40\"", "\"20-30\""},
                                                        {"\"20-30\"", "\"10-40\""},
                                                        {"\"20-30\"", "\"20-30\""}}) {
    expect_refused({"", ranged(first, second), "some of its ports are those of the service"});
  }
  expect_refused({"", ranged("\"any\"", "\"1-65535\""), "each can be balanced once"});
  for (const auto& [first, second] :
       std::vector<std::pair<std::string, std::string>>{{"\"10-20\"", "\"21-30\""},
                                                        {"\"10-20\"", "15"},
                                                        {"\"10-20\"", "\"any\""},
                                                        {"\"any\"", "15"}}) {
    EXPECT_EQ(parse_config(test_config() + ranged(first, second)).faults.size(), 0U);
  }
  EXPECT_EQ(parse_config(test_config() + ranged("\"10-20\"", "\"10-20\"", "udp")).faults.size(),
            0U);
}

TEST(config_ports, refuses_packets_in_circles) {
  expect_refused({"",
                  "[[service]]\nname = \"ranged\"\naddress = \"198.51.100.99\"\nport = "
                  "\"79-90\"\nprotocol = \"tcp\"\nbackends = [{name = \"b1\", address = "
                  "\"198.51.100.80\"}] #!\n",
                  "packets would go in circles"});
}

// An answer of a datagram by itself must say whose it is; ports that a more specific service has do
// not count.
TEST(config_ports, refuses_one_packet_where_backends_ports_are_shared) {
  const auto services = [](const std::string& other_port, uint16_t other_backend_port,
                           const std::string& other_address) {
    std::string ranged = ranged_service(kRanged4, "ranged", "\"100-199\"", 300, "udp");
    ranged.replace(ranged.find("backends = [{"), 13, "one_packet = true\nbackends = [\n{");
    ranged.replace(ranged.find("}]"), 2, "} #!\n]");
    std::string other = ranged_service(kRanged4, "other", other_port, other_backend_port, "udp");
    const std::string there = kRanged4.virtual_address;
    return ranged + other.replace(other.find(there), there.size(), other_address);
  };
  expect_refused({"", services("5000", 399, "198.51.100.98"), "it serves [[service]] other"});
  expect_refused({"", services("\"any\"", 0, "198.51.100.98"), "it serves [[service]] other"});
  for (const std::string& toml :
       {services("5000", 400, "198.51.100.98"), services("5000", 299, "198.51.100.98"),
        services("150", 350, kRanged4.virtual_address)}) {
    EXPECT_EQ(parse_config(test_config() + toml).faults.size(), 0U) << toml;
  }
}

}  // namespace
}  // namespace roost::lb
