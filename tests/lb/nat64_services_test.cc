// IPv6 services with IPv4 backends under the other algorithms, and without a usable backend.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/lb/consistency.h"
#include "tests/lb/test_nat64.h"

namespace roost::lb {
namespace {

// The IPv6 service, with these lines.
std::string with_lines(const std::string& lines, std::string toml = nat64_config()) {
  const std::string name = "name = \"web6\"\n";
  toml.insert(toml.find(name) + name.size(), lines);
  return toml;
}

TEST(nat64_services, least_connections_counts_those_of_ipv6_clients) {
  TestBalancer balancer(with_lines("algorithm = \"least_connections\"\n"));
  std::map<std::string, std::vector<uint16_t>> ports;
  for (uint16_t port = 1; port <= 300; ++port) {
    const auto ends = assure(balancer, kNat64, port);
    ASSERT_TRUE(ends);
    ports[ends->destination].push_back(port);
  }
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports["10.0.0.11"].size(), ports["10.0.0.12"].size());
  // Where fifty have ended the next fifty go.
  for (size_t i = 0; i < 50; ++i) end_connection(balancer, kNat64, ports["10.0.0.11"][i]);
  for (uint16_t port = 1'001; port <= 1'050; ++port) {
    const auto ends = assure(balancer, kNat64, port);
    ASSERT_TRUE(ends);
    EXPECT_EQ(ends->destination, "10.0.0.11");
  }
  EXPECT_TRUE(balancer.state().audit());
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

TEST(nat64_services, source_gives_an_ipv6_client_one_backend) {
  TestBalancer balancer(with_lines("algorithm = \"source\"\n"));
  std::map<std::string, size_t> clients;
  for (unsigned client = 0x100; client < 0x200; ++client) {
    std::set<std::string> backends;
    for (uint16_t port = 1; port <= 5; ++port) {
      PacketSpec spec = from_client(kNat64, port);
      spec.source = "2001:db8:1::" + std::to_string(client);
      backends.insert(ends_of(balancer.send_from_client(spec)).destination);
    }
    ASSERT_EQ(backends.size(), 1U);
    ++clients[*backends.begin()];
  }
  ASSERT_EQ(clients.size(), 2U);
  for (const auto& [backend, count] : clients) EXPECT_NEAR(static_cast<double>(count), 128, 45);
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

// The refusal is IPv6's: the client knows nothing of the backends' version.
TEST(nat64_services, clients_are_refused_in_ipv6_while_no_backend_is_usable) {
  std::string toml = with_lines("refuse = true\n");
  const size_t service = toml.find("name = \"web6\"");
  for (const std::string backend : {"b1", "b2"}) {
    const std::string name = "{name = \"" + backend + "\"";
    toml.insert(toml.find(name, service) + name.size(), ", weight = 0");
  }
  TestBalancer balancer(toml);
  const PacketSpec syn = from_client(kNat64, 40'000);
  EXPECT_EQ(balancer.send_from_client(syn).cause, drop_cause::kNoBackend);
  ASSERT_EQ(balancer.originated.size(), 1U);
  const Bytes& reset = balancer.originated[0].frame;
  ASSERT_EQ(reset.size(), 14U + 40 + 20);
  EXPECT_EQ(reset[12] << 8 | reset[13], 0x86dd);
  EXPECT_EQ(reset[54 + 13], net::tcp::kRst | net::tcp::kAck);
  EXPECT_EQ(ends_of(balancer.originated[0]),
            (Ends{kNat64.virtual_address, kNat64.client, 80, 40'000}));
  EXPECT_EQ(balancer.report().resets.sent, 1U);
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

}  // namespace
}  // namespace roost::lb
