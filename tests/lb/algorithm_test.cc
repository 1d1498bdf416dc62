// The algorithms of a service beside Maglev's: a client keeps its backend, or the backend with the
// fewest connections gets the next one.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/lb/consistency.h"
#include "tests/lb/reloaded.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kRst;
using net::tcp::kSyn;

// Each service by this algorithm.
std::string config_with(const std::string& algorithm, std::string toml = test_config()) {
  const std::string service = "[[service]]\n";
  for (size_t at = toml.find(service); at != std::string::npos; at = toml.find(service, at + 1)) {
    toml.insert(at + service.size(), "algorithm = \"" + algorithm + "\"\n");
  }
  return toml;
}

std::string client(size_t number) { return "192.0.2." + std::to_string(10 + number % 200); }

TEST(algorithm, source_gives_a_client_one_backend_and_clients_are_shared_out) {
  TestBalancer balancer(config_with("source"));
  TestBalancer other(config_with("source", test_config("hash_seed = 7\n", "")));
  std::map<std::string, size_t> clients;
  for (size_t i = 0; i < 200; ++i) {
    std::set<std::string> backends;
    for (uint16_t port = 1; port <= 10; ++port) {
      const PacketSpec spec{.source = client(i), .source_port = port};
      backends.insert(destination_of(balancer.send_from_client(spec)));
      backends.insert(destination_of(other.send_from_client(spec)));
    }
    ASSERT_EQ(backends.size(), 1U) << client(i);
    ++clients[*backends.begin()];
  }
  EXPECT_EQ(clients.size(), 3U);
  EXPECT_NEAR(static_cast<double>(clients["10.0.0.12"]), 100, 36);  // weight 2 of 4
}

TEST(algorithm, source_picks_up_connections_of_before_as_maglev_does) {
  TestBalancer before(config_with("source"));
  TestBalancer after(config_with("source"));
  for (size_t i = 0; i < 50; ++i) {
    const PacketSpec syn{.source = client(i), .tcp_flags = kSyn};
    const PacketSpec data{.source = client(i), .tcp_flags = kAck};
    EXPECT_EQ(destination_of(before.send_from_client(syn)),
              destination_of(after.send_from_client(data)));
  }
}

// Live connections of the first service's backends by their weights: with w_i those of C_i.
void expect_bound(const std::map<std::string, uint64_t>& live, uint64_t workers) {
  const std::map<std::string, uint64_t> weights = {
      {"10.0.0.11", 1}, {"10.0.0.12", 2}, {"10.0.0.13", 1}};
  for (const auto& [i, weight_i] : weights) {
    for (const auto& [j, weight_j] : weights) {
      const uint64_t mine = live.contains(i) ? live.at(i) : 0;
      const uint64_t others = live.contains(j) ? live.at(j) : 0;
      EXPECT_LE(mine * weight_j, (others + workers) * weight_i) << i << " and " << j;
    }
  }
}

TEST(algorithm, least_connections_of_several_workers_agree_within_their_number) {
  constexpr uint32_t kWorkers = 3;
  std::vector<std::unique_ptr<TestBalancer>> workers;
  for (uint32_t i = 0; i < kWorkers; ++i) {
    workers.push_back(std::make_unique<TestBalancer>(config_with("least_connections")));
  }
  std::map<std::string, uint64_t> live;
  for (size_t i = 0; i < 900; ++i) {
    // Most connections are the first worker's: the bound does not ask for even ones.
    TestBalancer& worker = *workers[i % 4 == 3 ? 1 + i % 2 : 0];
    const Fate fate =
        worker.send_from_client({.source = client(i), .source_port = static_cast<uint16_t>(1 + i)});
    ASSERT_EQ(fate.cause, std::nullopt);
    ++live[destination_of(fate)];
    expect_bound(live, kWorkers);
  }
}

TEST(algorithm, least_connections_fills_up_where_connections_ended) {
  TestBalancer balancer(config_with("least_connections"));
  std::map<std::string, std::vector<uint16_t>> ports;
  for (uint16_t port = 1; port <= 400; ++port) {
    const Fate fate = balancer.send_from_client({.source_port = port, .tcp_flags = kSyn});
    ports[destination_of(fate)].push_back(port);
  }
  ASSERT_EQ(ports["10.0.0.11"].size(), 100U);
  // All of one backend's are reset, and reclaimed.
  for (const uint16_t port : ports["10.0.0.11"]) {
    balancer.send_from_client({.source_port = port, .tcp_flags = kRst});
  }
  balancer.now = Tick{15};  // beyond tcp_closed, and not tcp_syn
  for (size_t turn = 0; turn < 1'000; ++turn) balancer.idle();
  ASSERT_EQ(balancer.report().live, 300U);
  std::map<std::string, size_t> next;
  for (uint16_t port = 1'001; port <= 1'050; ++port) {
    ++next[destination_of(balancer.send_from_client({.source_port = port, .tcp_flags = kSyn}))];
  }
  EXPECT_EQ(next["10.0.0.11"], 50U);
}

TEST(algorithm, least_connections_leaves_a_connection_of_before_to_its_backend) {
  TestBalancer balancer(config_with("least_connections"));
  const PacketSpec data{.source_port = 77, .tcp_flags = kAck};
  EXPECT_EQ(balancer.send_from_client(data).cause, DropCause::kNoFlow);
  const Fate picked_up = balancer.send_from_backend({.destination_mac = "02:00:00:00:00:02",
                                                     .source = "10.0.0.13",
                                                     .destination = "192.0.2.10",
                                                     .source_port = 8080,
                                                     .destination_port = 77,
                                                     .tcp_flags = kAck});
  ASSERT_EQ(picked_up.cause, std::nullopt);
  EXPECT_EQ(destination_of(balancer.send_from_client(data)), "10.0.0.13");
}

TEST(algorithm, least_connections_gives_a_drained_backend_nothing) {
  const std::string drained = test_config("address = \"10.0.0.12\", port = 8080, weight = 2",
                                          "address = \"10.0.0.12\", port = 8080, weight = 0");
  TestBalancer balancer(config_with("least_connections", drained));
  for (uint16_t port = 1; port <= 200; ++port) {
    EXPECT_NE(destination_of(balancer.send_from_client({.source_port = port})), "10.0.0.12");
  }
}

TEST(algorithm, a_reload_changes_it_and_connections_stay) {
  TestBalancer balancer(config_with("maglev"));
  ConsistencyChecker checker;
  const auto send = [&](uint16_t port, uint8_t flags) {
    checker.note(std::to_string(port),
                 balancer.send_from_client({.source_port = port, .tcp_flags = flags}));
  };
  for (uint16_t port = 1; port <= 100; ++port) send(port, kSyn);
  for (const std::string algorithm : {"least_connections", "source"}) {
    const Config file = *parse_config(config_with(algorithm)).config;
    take(balancer, file);
    for (uint16_t port = 1; port <= 100; ++port) send(port, kAck);
  }
  EXPECT_EQ(checker.violations(), 0U);
  std::set<std::string> backends;
  for (uint16_t port = 201; port <= 240; ++port) {
    backends.insert(destination_of(balancer.send_from_client({.source_port = port})));
  }
  EXPECT_EQ(backends.size(), 1U);  // by the client's address now
}

}  // namespace
}  // namespace roost::lb
