// The local ports of `fullnat`: which one a connection gets, and that no other has it meanwhile.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/base/step_count.h"
#include "tests/lb/test_fullnat.h"

namespace roost::lb {
namespace {

class LocalPortsTaken : public testing::TestWithParam<FullnatFamily> {};

INSTANTIATE_TEST_SUITE_P(both, LocalPortsTaken, testing::Values(kFullnat4, kFullnat6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(LocalPortsTaken, when_all_local_ports_are_taken_connections_are_refused_and_counted) {
  const FullnatFamily& f = GetParam();
  constexpr size_t kPorts = 100;
  TestBalancer balancer(fullnat_config(
      "\"10.0.0.100\", \"10.0.0.101\", \"2001:db8:2::100\", \"2001:db8:2::101\"", "[2000, 2049]"));
  std::map<Ends, uint16_t> clients;  // ports, by what their backend sees
  std::map<std::string, size_t> of_backend;
  size_t refused = 0;
  for (uint16_t port = 1; port <= 2'000; ++port) {
    const std::optional<Ends> ends = assure(balancer, f, port);
    if (!ends) {
      ++refused;
      continue;
    }
    EXPECT_TRUE(clients.emplace(*ends, port).second) << "one local port for two connections";
    ++of_backend[ends->destination];
  }
  EXPECT_EQ(clients.size(), kPorts * f.backend_macs.size());
  for (const auto& [backend, count] : of_backend) EXPECT_EQ(count, kPorts) << backend;
  EXPECT_EQ(balancer.totals().drops[DropCause::kNoLocalPort], refused);
  // Each answer finds its own client.
  for (const auto& [ends, port] : clients) {
    const Fate fate = balancer.send_from_backend(answer_to(f, ends, net::tcp::kAck));
    EXPECT_EQ(ends_of(fate), (Ends{f.virtual_address, f.client, 80, port}));
  }
  // One that ends makes room for one, on the port that it had.
  const auto [ends, port] = *clients.begin();
  end_connection(balancer, f, port);
  std::set<Ends> created;
  for (uint16_t next = 3'000; next < 4'000; ++next) {
    if (const auto its = assure(balancer, f, next)) created.insert(*its);
  }
  EXPECT_EQ(created, std::set<Ends>{ends});
  EXPECT_TRUE(balancer.state().audit());
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(LocalPortsTaken, a_local_port_comes_back_after_all_others) {
  const FullnatFamily& f = GetParam();
  TestBalancer balancer(fullnat_config("\"10.0.0.100\", \"2001:db8:2::100\"", "[2000, 2999]"));
  std::map<std::string, std::vector<uint16_t>> local_ports;  // by backend, in their order
  for (uint16_t port = 1; port <= 2'500; ++port) {
    const Ends ends = ends_of(balancer.send_from_client(from_client(f, port)));
    local_ports[ends.destination].push_back(ends.source_port);
    end_connection(balancer, f, port);
  }
  for (const auto& [backend, ports] : local_ports) {
    ASSERT_GT(ports.size(), 500U);
    for (size_t i = 0; i < ports.size(); ++i) {
      EXPECT_EQ(ports[i], ports[i % 1'000]) << backend;
      if (i > 0 && i < 1'000) {
        EXPECT_NE(ports[i], ports[0]);
      }
    }
  }
}

// Taken ports in one stretch, as long connections leave them that began together: a turn that falls
// into it finds a free one elsewhere. All are assured, so that none can be taken over.
TEST_P(LocalPortsTaken, a_stretch_of_taken_ports_refuses_nobody) {
  const FullnatFamily& f = GetParam();
  std::string toml = fullnat_config("\"10.0.0.100\", \"2001:db8:2::100\"", "[1000, 3999]");
  toml.replace(toml.find("4_096"), 5, "40_000");
  TestBalancer balancer(toml);
  const size_t held = 4'000;  // about 2,000 of 3,000 ports with the backend that has most
  size_t refused = 0;
  for (size_t i = 0; i < held; ++i) {
    refused += assure(balancer, f, static_cast<uint16_t>(1 + i)) ? 0U : 1U;
  }
  // A whole turn of short ones.
  for (size_t i = 0; i < 6'000; ++i) {
    const auto port = static_cast<uint16_t>(30'000 + i);
    const Fate fate = balancer.send_from_client(from_client(f, port));
    refused += fate.cause ? 1U : 0U;
    if (!fate.cause) end_connection(balancer, f, port);
  }
  EXPECT_EQ(refused, 0U);
  EXPECT_TRUE(balancer.state().audit());
}

// Connections that are not assured may be evicted: a flood of SYNs finds ports, and so do others.
TEST_P(LocalPortsTaken, those_of_unassured_connections_are_taken_over) {
  const FullnatFamily& f = GetParam();
  constexpr size_t kPorts = 100;
  TestBalancer balancer(fullnat_config("\"10.0.0.100\", \"2001:db8:2::100\"", "[2000, 2099]"));
  std::map<Ends, uint16_t> last;
  std::optional<Ends> asking;
  constexpr uint16_t kAsking = 60'000;
  size_t arrived = 0;
  size_t asked = 0;
  for (uint16_t port = 1; port <= 5'000; ++port) {
    last[ends_of(balancer.send_from_client(from_client(f, port)))] = port;
    // A real client's answer comes 50 packets later.
    if (port % 100 == 25) asking = ends_of(balancer.send_from_client(from_client(f, kAsking)));
    if (port % 100 == 75) {
      ++asked;
      const auto answer = answer_to(f, *asking, net::tcp::kSyn | net::tcp::kAck);
      arrived += balancer.send_from_backend(answer).cause ? 0U : 1U;
      end_connection(balancer, f, kAsking);
    }
  }
  EXPECT_EQ(arrived, asked);
  EXPECT_EQ(last.size(), kPorts * f.backend_macs.size());
  for (const auto& [ends, port] : last) {
    const Fate fate =
        balancer.send_from_backend(answer_to(f, ends, net::tcp::kSyn | net::tcp::kAck));
    ASSERT_TRUE(fate.cause == DropCause::kNoFlow ||
                ends_of(fate) == (Ends{f.virtual_address, f.client, 80, port}));
  }
  EXPECT_TRUE(balancer.state().audit());
  const Report report = balancer.report();
  EXPECT_GE(report.flows.evicted, 5'000 - kPorts * f.backend_macs.size());
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

// Connections that have closed keep their ports no longer than needed: 20 a second, each of them
// ten seconds in its closing time, through 128 ports of each backend, without a sweep.
TEST_P(LocalPortsTaken, those_of_closed_connections_are_taken_over) {
  const FullnatFamily& f = GetParam();
  TestBalancer balancer(fullnat_config("\"10.0.0.100\", \"2001:db8:2::100\"", "[2000, 2039]"));
  uint64_t created = 0;
  for (uint16_t port = 1; port <= 4'000; ++port) {
    if (port % 20 == 0) ++balancer.now.count;
    const std::optional<Ends> ends = assure(balancer, f, port);
    ASSERT_TRUE(ends) << port;
    ++created;
    const PacketSpec fin = answer_to(f, *ends, net::tcp::kFin | net::tcp::kAck);
    ASSERT_EQ(balancer.send_from_backend(fin).cause, std::nullopt);
    const PacketSpec last = from_client(f, port, net::tcp::kFin | net::tcp::kAck);
    ASSERT_EQ(balancer.send_from_client(last).cause, std::nullopt);
  }
  balancer.state().tracker().settle();
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.created, created);
  EXPECT_EQ(report.flows.ended + report.live, created);
  EXPECT_EQ(report.flows.evicted, 0U);
  EXPECT_TRUE(balancer.state().audit());
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

// Nor do expired ones that are not reclaimed yet; they find out later that their port is gone.
TEST_P(LocalPortsTaken, those_of_expired_connections_are_taken_over) {
  const FullnatFamily& f = GetParam();
  TestBalancer balancer(fullnat_config("\"10.0.0.100\", \"2001:db8:2::100\"", "[2000, 2039]"));
  const size_t ports = 40 * f.backend_macs.size();
  std::map<Ends, uint16_t> clients;
  for (uint16_t round = 0; round < 3; ++round) {
    clients.clear();
    size_t refused = 0;
    for (uint16_t port = 1; port <= 500; ++port) {
      // In the second round the same clients come again, to other ports of theirs or the same.
      const auto from = static_cast<uint16_t>(round == 1 ? 1 + port % 250 : port);
      if (round == 1 && port > 250) break;
      const auto ends = assure(balancer, f, from);
      refused += ends ? 0U : 1U;
      if (ends) clients[*ends] = from;
    }
    EXPECT_EQ(clients.size(), ports);
    EXPECT_GT(refused, 0U);
    balancer.now.count += 901;
  }
  balancer.now.count -= 901;
  for (const auto& [ends, port] : clients) {
    EXPECT_EQ(ends_of(balancer.send_from_backend(answer_to(f, ends, net::tcp::kAck))),
              (Ends{f.virtual_address, f.client, 80, port}));
  }
  balancer.state().tracker().settle();
  EXPECT_TRUE(balancer.state().audit());
  EXPECT_EQ(balancer.report().live, ports);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// What comes from a local address is our own, whichever station sent it.
TEST(local_ports, a_client_with_a_local_address_is_a_martian) {
  TestBalancer balancer(fullnat_config());
  const PacketSpec spoofed = {.source = "10.0.0.100"};
  EXPECT_EQ(balancer.send_from_client(spoofed).cause, DropCause::kMartian);
}

// Connections come and go at random, for longer than the local ports last; an exact model says
// which client is behind each local port.
TEST(local_ports, every_answer_finds_its_client_whatever_came_before) {
  constexpr uint16_t kClients = 400;
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    TestBalancer balancer(
        fullnat_config("\"10.0.0.100\", \"10.0.0.101\", \"2001:db8:2::100\"", "[5000, 5049]"));
    std::mt19937_64 random(seed);
    std::map<uint16_t, Ends> live;  // by client port
    for (size_t step = 0; step < step_count(20'000, 4); ++step) {
      const auto port = static_cast<uint16_t>(1 + random() % kClients);
      const auto known = live.find(port);
      if (known == live.end()) {
        const std::optional<Ends> ends = assure(balancer, kFullnat4, port);
        if (!ends) continue;
        for (const auto& [other, its] : live) ASSERT_NE(its, *ends) << other << " has it";
        live.emplace(port, *ends);
      } else if (random() % 3 == 0) {
        end_connection(balancer, kFullnat4, port);
        const Fate late =
            balancer.send_from_backend(answer_to(kFullnat4, known->second, net::tcp::kAck));
        ASSERT_EQ(late.cause, DropCause::kNoFlow);
        live.erase(known);
      } else {
        const Fate fate =
            balancer.send_from_backend(answer_to(kFullnat4, known->second, net::tcp::kAck));
        ASSERT_EQ(ends_of(fate), (Ends{kFullnat4.virtual_address, kFullnat4.client, 80, port}));
      }
    }
    EXPECT_TRUE(balancer.state().audit());
    EXPECT_EQ(balancer.state().tracker().counts().held(), live.size());
    EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
  }
}

}  // namespace
}  // namespace roost::lb
