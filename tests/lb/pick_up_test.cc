// Connections that were there before the balancer, whichever of the two ends sends first.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/lb/consistency.h"
#include "tests/lb/controlled.h"
#include "tests/lb/test_balancer.h"
#include "tests/lb/test_fullnat.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kFin;
using net::tcp::kRst;
using net::tcp::kSyn;

PacketSpec from_backend(const std::string& backend, uint16_t port, uint8_t flags) {
  return {.destination_mac = "02:00:00:00:00:02",
          .source = backend,
          .destination = "192.0.2.10",
          .source_port = 8080,
          .destination_port = port,
          .tcp_flags = flags};
}

PacketSpec from_port(uint16_t port, uint8_t flags) {
  return {.source_port = port, .tcp_flags = flags};
}

// What a balancer knew is lost, as with SIGKILL, and another begins with the same file: a thousand
// connections stay where they were, whether client or backend speaks next.
TEST(picked_up, connections_stay_with_their_backend_after_a_restart) {
  ConsistencyChecker checker;
  std::map<uint16_t, std::string> backends;
  {
    TestBalancer before;
    for (uint16_t port = 1; port <= 1'000; ++port) {
      const Fate fate = before.send_from_client(from_port(port, kSyn));
      checker.note(std::to_string(port), fate);
      backends[port] = destination_of(fate);
    }
  }
  TestBalancer after;
  for (const auto& [port, backend] : backends) {
    if (port % 2 == 0) {
      const Fate fate = after.send_from_backend(from_backend(backend, port, kAck));
      ASSERT_EQ(fate.cause, std::nullopt);
      ASSERT_EQ(read_ends(fate.frame), (Ends{"198.51.100.80", "192.0.2.10", 80, port}));
    }
    checker.note(std::to_string(port), after.send_from_client(from_port(port, kAck)));
  }
  EXPECT_EQ(checker.violations(), 0U);
  const Report report = after.report();
  EXPECT_EQ(report.live, 1'000U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  EXPECT_TRUE(after.state().audit());
}

// The backend knows better than Maglev.
TEST(picked_up, a_backends_connection_is_its_own_whatever_maglev_says) {
  TestBalancer balancer;
  for (uint16_t port = 1; port <= 300; ++port) {
    const std::string backend = "10.0.0.1" + std::to_string(1 + port % 3);
    ASSERT_EQ(balancer.send_from_backend(from_backend(backend, port, kAck)).cause, std::nullopt);
    ASSERT_EQ(destination_of(balancer.send_from_client(from_port(port, kAck))), backend);
    // Another backend's packet in it has no connection.
    const std::string other = "10.0.0.1" + std::to_string(1 + (port + 1) % 3);
    ASSERT_EQ(balancer.send_from_backend(from_backend(other, port, kAck)).cause,
              DropCause::kNoFlow);
  }
  EXPECT_EQ(balancer.report().flows.created, 300U);
  // Assured, and with the state that it has.
  balancer.now.count += 900;
  EXPECT_EQ(balancer.state().tracker().count_live(), 300U);
  ASSERT_EQ(balancer.send_from_backend(from_backend("10.0.0.11", 1'000, kFin | kAck)).cause,
            std::nullopt);
  balancer.now.count += 121;
  balancer.idle(1'000'000);
  EXPECT_EQ(balancer.state().tracker().count_live(), 0U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST(picked_up, what_begins_or_ends_a_connection_begins_none_from_a_backend) {
  TestBalancer balancer;
  for (const uint8_t flags : {kSyn, uint8_t{kSyn | kAck}, kRst, uint8_t{kRst | kAck}}) {
    EXPECT_EQ(balancer.send_from_backend(from_backend("10.0.0.11", 1, flags)).cause,
              DropCause::kNoFlow);
  }
  PacketSpec spec = from_backend("10.0.0.11", 1, kAck);
  spec.source_port = 8081;
  EXPECT_EQ(balancer.send_from_backend(spec).cause, DropCause::kNoFlow) << "no service's end";
  spec = from_backend("10.0.0.11", 1, kAck);
  spec.destination_mac = "02:00:00:00:00:01";
  EXPECT_EQ(balancer.send_from_client(spec).cause, drop_cause::kWrongSide);
  spec = from_backend("10.0.0.11", 1, kAck);
  spec.destination = "198.51.100.80";
  EXPECT_NE(balancer.send_from_backend(spec).cause, std::nullopt) << "to ourselves";
  EXPECT_EQ(balancer.report().flows.created, 0U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// Two services have the same backend and port: which one's connection it was is unknown.
TEST(picked_up, a_backend_of_two_services_begins_none) {
  TestBalancer balancer(test_config() + R"([[service]]
name = "web-2"
address = "198.51.100.81"
port = 80
protocol = "tcp"
backends = [{name = "b1", address = "10.0.0.11", port = 8080}]
)");
  EXPECT_EQ(balancer.send_from_backend(from_backend("10.0.0.11", 1, kAck)).cause,
            DropCause::kNoFlow);
  EXPECT_EQ(balancer.send_from_backend(from_backend("10.0.0.12", 1, kAck)).cause, std::nullopt);
}

TEST(picked_up, datagrams_of_a_backend_begin_one) {
  TestBalancer balancer;
  PacketSpec answer = from_backend("10.0.0.11", 40'000, 0);
  answer.protocol = net::IpProtocol::kUdp;
  answer.source_port = 53;
  const Fate fate = balancer.send_from_backend(answer);
  ASSERT_EQ(fate.cause, std::nullopt);
  EXPECT_EQ(read_ends(fate.frame), (Ends{"198.51.100.53", "192.0.2.10", 53, 40'000}));
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

// Behind a local port the client is not to be known; and what comes next begins elsewhere than in
// the run before.
TEST(picked_up, local_ports_begin_anywhere) {
  std::map<Ends, int> seen;
  for (int run = 0; run < 30; ++run) {
    TestBalancer balancer(fullnat_config());
    const Ends asked = ends_of(balancer.send_from_client(from_client(kFullnat4, 40'000)));
    ++seen[asked];
    TestBalancer next(fullnat_config());
    EXPECT_EQ(next.send_from_backend(answer_to(kFullnat4, asked, kAck)).cause, DropCause::kNoFlow);
  }
  EXPECT_GE(seen.size(), 25U);
}

// A client with a local port of the run before gets a reset by the backend.
TEST(picked_up, a_client_behind_a_local_port_gets_the_backends_reset) {
  TestBalancer balancer(fullnat_config());
  const Ends asked = ends_of(balancer.send_from_client(from_client(kFullnat4, 40'000, kAck)));
  const Fate reset = balancer.send_from_backend(answer_to(kFullnat4, asked, kRst));
  EXPECT_EQ(ends_of(reset), (Ends{kFullnat4.virtual_address, kFullnat4.client, 80, 40'000}));
  EXPECT_EQ(reset.frame[14 + 20 + 13], kRst);
}

class PickedUp : public Controlled {};

// Connections of before the drain, whose entries are lost, find the backend that they had; new ones
// do not go there.
TEST_F(PickedUp, connections_of_a_drained_backend_find_it) {
  std::map<uint16_t, std::string> before;
  for (uint16_t port = 1; port <= 200; ++port) {
    before[port] = destination_of(workers_[0].send_from_client(from_port(port, kAck)));
  }
  must({{"command", "backend"}, {"action", "drain"}, {"name", "b2"}, {"service", "web"}});
  must({{"command", "flows"}, {"action", "delete"}, {"service", "web"}});
  EXPECT_EQ(workers_[0].state().tracker().count_live(), 0U);
  size_t drained = 0;
  for (const auto& [port, backend] : before) {
    ASSERT_EQ(destination_of(workers_[0].send_from_client(from_port(port, kAck))), backend);
    drained += backend == "10.0.0.12" ? 1U : 0U;
    const auto next = static_cast<uint16_t>(port + 1'000);
    ASSERT_NE(destination_of(workers_[0].send_from_client(from_port(next, kSyn))), "10.0.0.12");
  }
  EXPECT_GT(drained, 50U);
  // A file read anew changes nothing of that.
  ASSERT_TRUE(reload(test_config()).ok());
  must({{"command", "flows"}, {"action", "delete"}, {"service", "web"}});
  for (const auto& [port, backend] : before) {
    ASSERT_EQ(destination_of(workers_[0].send_from_client(from_port(port, kAck))), backend);
  }
}

}  // namespace
}  // namespace roost::lb
