// What a running balancer says of IPv6 clients before IPv4 backends, and what a reload may change.
#include <gtest/gtest.h>

#include "tests/lb/controlled.h"
#include "tests/lb/test_nat64.h"

namespace roost::lb {
namespace {

class Nat64Controlled : public Controlled {
 protected:
  Nat64Controlled() : Controlled(nat64_config()) {}
};

TEST_F(Nat64Controlled, addresses_are_shown_as_operators_know_them) {
  const Ends ends = ends_of(workers_[0].send_from_client(from_client(kNat64, 40'000)));
  const Json flows = must({{"command", "flows"}})["flows"];
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0]["client"], "[2001:db8:1::10]:40000");
  EXPECT_EQ(flows[0]["virtual"], "[2001:db8:ffff::80]:80");
  EXPECT_EQ(flows[0]["endpoint"], ends.destination + ":8080");
  EXPECT_EQ(flows[0]["local"], "10.0.0.200:" + std::to_string(ends.source_port));
  expect_sums();
}

TEST_F(Nat64Controlled, drains_and_weights_are_a_services_as_ever) {
  must({{"command", "backend"}, {"action", "drain"}, {"name", "b1"}, {"service", "web6"}});
  for (uint16_t port = 1; port <= 50; ++port) {
    EXPECT_EQ(ends_of(workers_[0].send_from_client(from_client(kNat64, port))).destination,
              "10.0.0.12");
  }
  must({{"command", "backend"}, {"action", "up"}, {"name", "b1"}, {"service", "web6"}});
  expect_sums();
}

TEST_F(Nat64Controlled, a_backend_is_removed_and_its_connections_go_on) {
  std::vector<Ends> before;
  for (uint16_t port = 1; port <= 50; ++port) {
    before.push_back(ends_of(workers_[0].send_from_client(from_client(kNat64, port))));
  }
  std::string toml = nat64_config();
  const std::string b1 = "  {name = \"b1\", address = \"10.0.0.11\", port = 8080},\n";
  toml.erase(toml.rfind(b1), b1.size());
  ASSERT_TRUE(reload(toml).ok());
  for (uint16_t port = 1; port <= 50; ++port) {
    EXPECT_EQ(ends_of(workers_[0].send_from_client(from_client(kNat64, port, net::tcp::kAck))),
              before[port - 1U]);
    EXPECT_EQ(ends_of(workers_[0].send_from_client(
                          from_client(kNat64, static_cast<uint16_t>(port + 1'000))))
                  .destination,
              "10.0.0.12");
  }
  expect_sums();
}

TEST_F(Nat64Controlled, a_reload_does_not_change_local_addresses) {
  const Result<Json> refused = reload(nat64_config("\"10.0.0.201\""));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("nat64_addresses"), std::string::npos);
}

}  // namespace
}  // namespace roost::lb
