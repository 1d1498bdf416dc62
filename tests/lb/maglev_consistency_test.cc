// Which backend a client gets depends on the configuration alone: on every instance and after every
// restart it is the same one, and shares follow the weights.
#include <gtest/gtest.h>

#include <map>

#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

std::vector<std::string> choices(const std::string& toml, const PacketSpec& base) {
  TestBalancer balancer(toml);
  std::vector<std::string> chosen;
  for (uint16_t port = 1; port <= 3'000; ++port) {
    PacketSpec spec = base;
    spec.source_port = port;
    chosen.push_back(destination_of(balancer.send_from_client(spec)));
  }
  return chosen;
}

const PacketSpec kIpv6 = {.source = "2001:db8:1::10", .destination = "2001:db8:ffff::80"};

TEST(maglev, two_instances_choose_alike_whatever_their_hash_seeds) {
  const std::string other_seed = test_config("hash_seed = 7\n", "");  // random
  EXPECT_EQ(choices(test_config(), {}), choices(other_seed, {}));
  EXPECT_EQ(choices(test_config(), kIpv6), choices(other_seed, kIpv6));
}

TEST(maglev, the_order_of_the_backends_does_not_matter) {
  const std::string b1 = "{name = \"b1\", address = \"10.0.0.11\", port = 8080},";
  const std::string b3 = "{name = \"b3\", address = \"10.0.0.13\", port = 8080},";
  std::string turned = test_config(b1, "{}");
  turned.replace(turned.find(b3), b3.size(), b1);
  turned.replace(turned.find("{}"), 2, b3);
  EXPECT_EQ(choices(test_config(), {}), choices(turned, {}));
}

TEST(maglev, another_configured_seed_is_another_choice) {
  const std::string other = test_config("maglev_seed = 1", "maglev_seed = 2");
  EXPECT_NE(choices(test_config(), {}), choices(other, {}));
}

TEST(maglev, a_restarted_balancer_keeps_open_connections_on_their_backends) {
  TestBalancer before;
  TestBalancer after;
  for (uint16_t port = 1; port <= 500; ++port) {
    const Fate syn = before.send_from_client({.source_port = port});
    const Fate data = after.send_from_client({.source_port = port, .tcp_flags = net::tcp::kAck});
    EXPECT_EQ(destination_of(syn), destination_of(data));
  }
}

TEST(maglev, shares_follow_the_weights) {
  std::map<std::string, double> share;
  TestBalancer balancer(test_config("connections = 4_096", "connections = 70_000"));
  for (uint32_t port = 1; port <= 65'535; ++port) {
    const auto source_port = static_cast<uint16_t>(port);
    share[destination_of(balancer.send_from_client({.source_port = source_port}))] += 1 / 65'535.0;
  }
  // Maglev's table is within 2 %; 65,535 random draws add a standard deviation of 0.8 % at most.
  EXPECT_NEAR(share["10.0.0.11"], 0.25, 0.25 * 0.05);
  EXPECT_NEAR(share["10.0.0.12"], 0.50, 0.50 * 0.05);
  EXPECT_NEAR(share["10.0.0.13"], 0.25, 0.25 * 0.05);
}

TEST(maglev, a_backend_of_weight_zero_gets_no_new_connection) {
  const std::string drained = test_config("address = \"10.0.0.12\", port = 8080, weight = 2",
                                          "address = \"10.0.0.12\", port = 8080, weight = 0");
  for (const std::string& chosen : choices(drained, {})) EXPECT_NE(chosen, "10.0.0.12");
}

}  // namespace
}  // namespace roost::lb
