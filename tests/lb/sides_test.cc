// Which source addresses are valid: a backend's on its own side only, ours on none, and those of a
// backend that is a client never towards itself.
#include <gtest/gtest.h>

#include "tests/lb/test_balancer.h"
#include "tests/lb/test_fullnat.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kSyn;

uint64_t drops(const TestBalancer& balancer, DropCause cause) {
  return balancer.totals().drops[cause];
}

TEST(sides, an_answer_from_the_clients_side_is_dropped) {
  for (const bool is_fullnat : {false, true}) {
    TestBalancer balancer(is_fullnat ? fullnat_config() : test_config());
    const Ends asked = ends_of(balancer.send_from_client(from_client(kFullnat4, 40'000)));
    PacketSpec answer = answer_to(kFullnat4, asked, kSyn | kAck);
    answer.destination_mac = "02:00:00:00:00:01";
    EXPECT_EQ(balancer.send_from_client(answer).cause, drop_cause::kWrongSide);
    answer.tcp_flags = net::tcp::kRst | kAck;
    EXPECT_EQ(balancer.send_from_client(answer).cause, drop_cause::kWrongSide);
    answer = answer_to(kFullnat4, asked, kSyn | kAck);
    EXPECT_EQ(balancer.send_from_backend(answer).cause, std::nullopt);
    EXPECT_EQ(drops(balancer, drop_cause::kWrongSide), 2U);
    EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
  }
}

// A client's own packets may come by any port: uplinks differ by direction.
TEST(sides, a_client_may_come_by_either) {
  TestBalancer balancer;
  const PacketSpec spec = {.destination_mac = "02:00:00:00:00:02"};
  EXPECT_EQ(balancer.send_from_backend(spec).cause, std::nullopt);
}

TEST(own_addresses, are_nobody_elses_source) {
  const std::string toml = fullnat_config() + R"([[service]]
name = "web-2"
address = "198.51.100.90"
port = 80
protocol = "tcp"
backends = [{name = "b1", address = "10.0.0.11", port = 8080}]
)";
  TestBalancer balancer(toml);
  uint64_t sent = 0;
  for (const std::string own :
       {"198.51.100.90", "198.51.100.80", "198.51.100.53", "192.0.2.1", "10.0.0.1", "10.0.0.100"}) {
    PacketSpec spec = {.source = own, .destination = "198.51.100.80"};
    if (own == spec.destination) spec.destination = "198.51.100.90";
    for (const uint16_t port : {uint16_t{0}, uint16_t{1}}) {
      spec.destination_mac = port == 0 ? "02:00:00:00:00:01" : "02:00:00:00:00:02";
      EXPECT_EQ(balancer.send({make_frame(spec), port, 128, {}}).cause, DropCause::kMartian) << own;
      ++sent;
    }
  }
  for (const std::string own : {"2001:db8:ffff::53", "2001:db8:1::1", "2001:db8:2::100"}) {
    const PacketSpec spec = {.source = own, .destination = "2001:db8:ffff::80"};
    EXPECT_EQ(balancer.send_from_client(spec).cause, DropCause::kMartian) << own;
    ++sent;
  }
  EXPECT_EQ(drops(balancer, DropCause::kMartian), sent);
  EXPECT_EQ(balancer.report().flows.created, 0U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST(a_backend_as_client, gets_another_one) {
  TestBalancer balancer;
  for (uint16_t port = 1; port <= 300; ++port) {
    for (const std::string backend : {"10.0.0.11", "10.0.0.12", "10.0.0.13"}) {
      const PacketSpec spec = {
          .destination_mac = "02:00:00:00:00:02", .source = backend, .source_port = port};
      const Fate fate = balancer.send_from_backend(spec);
      ASSERT_EQ(fate.cause, std::nullopt);
      ASSERT_NE(destination_of(fate), backend);
    }
  }
  // The only one of its service.
  PacketSpec query = dns_query();
  query.destination_mac = "02:00:00:00:00:02";
  query.source = "10.0.0.11";
  EXPECT_EQ(balancer.send_from_backend(query).cause, drop_cause::kNoBackend);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// Not a drained one either.
TEST(a_backend_as_client, gets_one_that_takes_connections) {
  TestBalancer balancer(test_config("port = 8080, weight = 2", "port = 8080, weight = 0"));
  for (uint16_t port = 1; port <= 300; ++port) {
    const PacketSpec spec = {
        .destination_mac = "02:00:00:00:00:02", .source = "10.0.0.11", .source_port = port};
    ASSERT_EQ(destination_of(balancer.send_from_backend(spec)), "10.0.0.13");
  }
}

// In `fullnat` it sees our address, and can answer itself if there is no other.
TEST(a_backend_as_client, has_only_itself_behind_a_local_port) {
  std::string toml = test_config("name = \"dns\"\n", "name = \"dns\"\nmode = \"fullnat\"\n");
  TestBalancer balancer(toml + "[fullnat]\naddresses = [\"10.0.0.100\"]\n");
  PacketSpec query = dns_query();
  query.destination_mac = "02:00:00:00:00:02";
  query.source = "10.0.0.11";
  EXPECT_EQ(destination_of(balancer.send_from_backend(query)), "10.0.0.11");
}

}  // namespace
}  // namespace roost::lb
