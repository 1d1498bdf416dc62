// Services of mode `fullnat`: backends see a local port of the balancer, and what they send to it
// reaches the client that it stands for, or none.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/lb/test_fullnat.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

class Fullnat : public testing::TestWithParam<FullnatFamily> {};

INSTANTIATE_TEST_SUITE_P(both, Fullnat, testing::Values(kFullnat4, kFullnat6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(Fullnat, both_ends_are_translated_both_ways) {
  const FullnatFamily& f = GetParam();
  TestBalancer balancer(fullnat_config());
  const Fate syn = balancer.send_from_client(from_client(f, 40'000));
  const Ends asked = ends_of(syn);
  EXPECT_EQ(asked.source, f.local);
  EXPECT_GE(asked.source_port, 1'024);
  ASSERT_TRUE(f.backend_macs.contains(asked.destination));
  PacketSpec expected = from_client(f, asked.source_port);
  expected.source_mac = "02:00:00:00:00:02";
  expected.destination_mac = f.backend_macs.at(asked.destination);
  expected.source = f.local;
  expected.destination = asked.destination;
  expected.destination_port = 8'080;
  expected.ttl = 63;
  EXPECT_EQ(syn.frame, make_frame(expected));

  const PacketSpec answer = answer_to(f, asked, net::tcp::kSyn | net::tcp::kAck);
  const Fate back = balancer.send_from_backend(answer);
  EXPECT_EQ(back.out_port, 0);
  PacketSpec received = answer;
  received.source_mac = "02:00:00:00:00:01";
  received.destination_mac = "02:00:00:00:01:10";
  received.source = f.virtual_address;
  received.source_port = 80;
  received.destination = f.client;
  received.destination_port = 40'000;
  received.ttl = 63;
  EXPECT_EQ(back.frame, make_frame(received));

  // The connection keeps its local port.
  EXPECT_EQ(ends_of(balancer.send_from_client(from_client(f, 40'000, net::tcp::kAck))), asked);
  EXPECT_TRUE(balancer.state().audit());
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(Fullnat, what_no_connection_has_asked_for_reaches_nobody) {
  const FullnatFamily& f = GetParam();
  TestBalancer balancer(fullnat_config());
  const Ends asked = ends_of(balancer.send_from_client(from_client(f, 40'000)));
  Ends other = asked;
  other.source_port = static_cast<uint16_t>(asked.source_port + 1);
  EXPECT_EQ(balancer.send_from_backend(answer_to(f, other, net::tcp::kAck)).cause,
            DropCause::kNoFlow);
  // Another backend, to the port of this one's connection.
  for (const auto& [address, mac] : f.backend_macs) {
    if (address == asked.destination) continue;
    other = asked;
    other.destination = address;
    EXPECT_EQ(balancer.send_from_backend(answer_to(f, other, net::tcp::kAck)).cause,
              DropCause::kNoFlow);
  }
}

TEST_P(Fullnat, icmp_errors_are_translated_at_both_ends) {
  const FullnatFamily& f = GetParam();
  const bool is_ipv6 = f.client.find(':') != std::string::npos;
  const size_t bytes = is_ipv6 ? 60 : 40;
  const auto unreachable = static_cast<uint8_t>(is_ipv6 ? 1 : 3);
  TestBalancer balancer(fullnat_config());
  const Fate syn = balancer.send_from_client(from_client(f, 40'000));
  const Ends asked = ends_of(syn);
  const std::string& backend_mac = f.backend_macs.at(asked.destination);
  PacketSpec answer = answer_to(f, asked, net::tcp::kSyn | net::tcp::kAck);
  const Fate back = balancer.send_from_backend(answer);

  IcmpSpec error = {.source = is_ipv6 ? "2001:db8:1::99" : "192.0.2.11",
                    .destination = f.virtual_address,
                    .type = unreachable};
  const Fate to_backend = balancer.send({make_icmp_error(error, back.frame, bytes), 0, 128, {}});
  ASSERT_EQ(to_backend.cause, std::nullopt);
  IcmpSpec expected = error;
  expected.source_mac = "02:00:00:00:00:02";
  expected.destination_mac = backend_mac;
  expected.source = f.local;
  expected.destination = asked.destination;
  expected.ttl = 63;
  --answer.ttl;
  EXPECT_EQ(to_backend.frame, make_icmp_error(expected, make_frame(answer), bytes));

  error = {.source_mac = backend_mac,
           .destination_mac = "02:00:00:00:00:02",
           .source = asked.destination,
           .destination = f.local,
           .type = unreachable};
  const Fate to_client = balancer.send({make_icmp_error(error, syn.frame, bytes), 1, 128, {}});
  ASSERT_EQ(to_client.cause, std::nullopt);
  expected = error;
  expected.source_mac = "02:00:00:00:00:01";
  expected.destination_mac = "02:00:00:00:01:10";
  expected.source = f.virtual_address;
  expected.destination = f.client;
  expected.ttl = 63;
  PacketSpec sent = from_client(f, 40'000);
  --sent.ttl;
  EXPECT_EQ(to_client.frame, make_icmp_error(expected, make_frame(sent), bytes));
}

class TwoWorkers : public testing::TestWithParam<FullnatFamily> {
 protected:
  static node::FlowOwner owner(size_t worker) {
    return node::FlowOwner({.worker_count = 2, .worker = worker, .seed = 12});
  }
  // The owner of a flow if this were its client's address.
  static size_t owner_of(const std::string& text) {
    const net::IpAddress address = net::IpAddress::parse(text).value();
    return address.is_ipv6() ? owner(0).owner_of(*address.as<net::Ipv6Address>())
                             : owner(0).owner_of(*address.as<net::Ipv4Address>());
  }
  // What the worker decides on a frame of the network.
  Fate receive(size_t worker, const std::vector<uint8_t>& frame, uint16_t port) {
    return workers_[worker].send({.frame = frame, .in_port = port});
  }

  const std::string config_ = fullnat_config(
      R"("10.0.0.100", "10.0.0.101", "2001:db8:2::100", "2001:db8:2::101")", "[1024, 65535]");
  std::array<TestBalancer, 2> workers_{TestBalancer(config_, owner(0)),
                                       TestBalancer(config_, owner(1))};
};

INSTANTIATE_TEST_SUITE_P(both, TwoWorkers, testing::Values(kFullnat4, kFullnat6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

// The answer's destination gives its owner, with ports or without.
TEST_P(TwoWorkers, each_has_local_addresses_of_its_own_and_gets_what_comes_to_them) {
  const FullnatFamily& f = GetParam();
  const std::string client = f.client;
  const size_t asker = owner_of(client);
  const std::string own_local = f.local.substr(0, f.local.size() - 1) + std::to_string(asker);
  ASSERT_NE(owner_of(own_local), asker) << "take another seed, so that the hash would say no";
  for (uint16_t port = 1; port <= 100; ++port) {
    const Fate syn = workers_[asker].send_from_client(from_client(f, port));
    const Ends asked = ends_of(syn);
    EXPECT_EQ(asked.source, own_local);
    const std::vector<uint8_t> answer = make_frame(answer_to(f, asked, net::tcp::kAck));
    EXPECT_EQ(receive(1 - asker, answer, 1).owner, asker);
    EXPECT_EQ(ends_of(receive(asker, answer, 1)), (Ends{f.virtual_address, f.client, 80, port}));
  }
  // A later fragment of an answer.
  const Ends asked = ends_of(workers_[asker].send_from_client(from_client(f, 1)));
  std::vector<uint8_t> fragment = make_frame(answer_to(f, asked, net::tcp::kAck));
  if (fragment[12] == 0x08) {
    fragment[20] = 0;
    fragment[21] = 100;
    fix_ipv4_checksum(fragment);
    EXPECT_EQ(receive(1 - asker, fragment, 1).owner, asker);
  }
  // The backend's complaint about what it was asked.
  const bool is_ipv6 = f.client.find(':') != std::string::npos;
  const IcmpSpec error = {.source_mac = f.backend_macs.at(asked.destination),
                          .destination_mac = "02:00:00:00:00:02",
                          .source = asked.destination,
                          .destination = asked.source,
                          .type = static_cast<uint8_t>(is_ipv6 ? 1 : 3)};
  const Fate again = workers_[asker].send_from_client(from_client(f, 1, net::tcp::kAck));
  EXPECT_EQ(receive(1 - asker, make_icmp_error(error, again.frame, is_ipv6 ? 60 : 40), 1).owner,
            asker);
}

TEST(fullnat, there_are_at_least_as_many_local_addresses_as_workers) {
  const ConfigOutcome outcome = parse_config(fullnat_config());
  ASSERT_TRUE(outcome.config.has_value());
  const std::vector<net::MacAddress> macs(2, {{2, 0, 0, 0, 0, 9}});
  const auto refused = State::create(*outcome.config, macs, {.worker = 0, .worker_count = 2});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error().message,
      "[fullnat] addresses: 1 of IPv4 for 2 workers; give each worker one, or let fewer work");
}

}  // namespace
}  // namespace roost::lb
