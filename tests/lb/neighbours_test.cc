// The balancer among neighbours that no configuration names: it asks, waits, answers, and every
// packet is accounted for, under a flood of lies too.
#include <gtest/gtest.h>

#include <random>

#include "tests/lb/test_neighbours.h"
#include "tests/net/message_frames.h"

namespace roost::lb {
namespace {

using net::Ipv4Address;
using net::MacAddress;

PacketSpec dns_answer() {
  PacketSpec spec = dns_query();
  spec.destination_mac = kPort1Mac.format();
  spec.source = "10.0.0.11";
  spec.destination = "192.0.2.10";
  spec.source_port = 53;
  spec.destination_port = 40'000;
  return spec;
}

class LbNeighbours : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(broken_sums(balancer_.report()), std::vector<std::string>());
  }
  void pass(uint64_t ticks) {
    for (uint64_t i = 0; i < ticks; ++i) {
      ++balancer_.now.count;
      balancer_.idle();
    }
  }
  std::vector<Fate> take_originated() { return std::exchange(balancer_.originated, {}); }
  Fate backend_answers_arp() {
    return balancer_.send({is_at("10.0.0.11", kBackendMac, "10.0.0.1", kPort1Mac), 1, 128, {}});
  }
  uint64_t drops(DropCause cause) { return balancer_.report().run.drops[cause]; }

  TestBalancer balancer_{config_without_neighbours()};
};

TEST_F(LbNeighbours, a_packet_for_an_unknown_backend_waits_and_leaves_translated) {
  EXPECT_TRUE(balancer_.send_from_client(dns_query()).is_consumed);
  std::vector<Fate> sent = take_originated();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].frame[13], 6) << "an ARP request";
  EXPECT_EQ(balancer_.report().neighbours.waiting, 1u);
  EXPECT_TRUE(backend_answers_arp().is_consumed);
  sent = take_originated();
  ASSERT_EQ(sent.size(), 1u);
  PacketSpec expected = dns_query();
  expected.source_mac = kPort1Mac.format();
  expected.destination_mac = kBackendMac.format();
  expected.destination = "10.0.0.11";
  expected.ttl = 63;
  EXPECT_EQ(sent[0].frame, make_frame(expected));
  EXPECT_EQ(sent[0].out_port, 1);

  // The answer finds no MAC of the client and waits as well.
  EXPECT_TRUE(balancer_.send_from_backend(dns_answer()).is_consumed);
  EXPECT_TRUE(balancer_.send({is_at("192.0.2.10", kClientMac, "192.0.2.1", kPort0Mac), 0, 128, {}})
                  .is_consumed);
  EXPECT_EQ(take_originated().size(), 2u);
  EXPECT_EQ(balancer_.send_from_backend(dns_answer()).out_port, 0);
  EXPECT_FALSE(balancer_.send_from_client(dns_query()).is_consumed);
}

TEST_F(LbNeighbours, a_client_behind_a_router_is_answered_by_the_router) {
  PacketSpec query = dns_query();
  query.source = "203.0.113.9";
  EXPECT_TRUE(balancer_.send_from_client(query).is_consumed);
  backend_answers_arp();
  take_originated();
  PacketSpec answer = dns_answer();
  answer.destination = "203.0.113.9";
  EXPECT_TRUE(balancer_.send_from_backend(answer).is_consumed);
  EXPECT_EQ(take_originated().at(0).frame[41], 254) << "it asks for the router";
  balancer_.send({is_at("192.0.2.254", kClientMac, "192.0.2.1", kPort0Mac), 0, 128, {}});
  EXPECT_EQ(take_originated().size(), 1u);
  query.source = "203.0.114.9";
  EXPECT_EQ(balancer_.send_from_client(query).cause, DropCause::kNoNeighbour);
}

TEST_F(LbNeighbours, one_queue_is_bounded_and_one_that_is_silent_fails) {
  for (uint16_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(balancer_.send_from_client(dns_query(static_cast<uint16_t>(1000 + i))).is_consumed);
  }
  EXPECT_EQ(balancer_.send_from_client(dns_query(2000)).cause, DropCause::kNeighbourQueueFull);
  EXPECT_EQ(balancer_.report().flows.created, 16u) << "the refused packet creates no connection";
  pass(3);
  EXPECT_EQ(balancer_.send_from_client(dns_query(2001)).cause, DropCause::kNeighbourFailed);
  EXPECT_EQ(balancer_.report().neighbours.counters.lost_failed, 16u);
  pass(1);
  EXPECT_TRUE(balancer_.send_from_client(dns_query(2001)).is_consumed);
}

TEST_F(LbNeighbours, a_packet_in_two_buffers_does_not_wait) {
  const Fate fate = balancer_.send({make_frame(dns_query()), 0, 128, 45});
  EXPECT_EQ(fate.cause, DropCause::kNeighbourQueueFull);
}

TEST_F(LbNeighbours, pings_of_our_addresses_are_answered_and_others_are_not) {
  for (const net::Bytes& request : {net::kEcho4, net::kEcho6}) {
    const Fate fate = balancer_.send({request, 0, 128, {}});
    ASSERT_FALSE(fate.cause.has_value());
    EXPECT_EQ(fate.frame, request == net::kEcho4 ? net::kEchoReply4 : net::kEchoReply6);
    EXPECT_EQ(fate.out_port, 0);
  }
  net::Bytes to_another = net::kEcho4;
  to_another[33] = 2;
  to_another[25] = static_cast<uint8_t>(to_another[25] - 1);
  EXPECT_EQ(balancer_.send({to_another, 0, 128, {}}).cause, DropCause::kUnsupportedProtocol);
  net::Bytes to_a_group = net::kEcho4;
  std::fill(to_a_group.begin(), to_a_group.begin() + 6, uint8_t{0xff});
  EXPECT_EQ(balancer_.send({to_a_group, 0, 128, {}}).cause, DropCause::kNotForUs);
  EXPECT_EQ(balancer_.report().echo_replies, 2u);
}

// One that came in fragments is not answered by a fragment, nor one that is longer than our MTU.
TEST_F(LbNeighbours, pings_are_answered_whole_or_not_at_all) {
  net::Bytes request = net::kEcho4;
  request.resize(14 + 36);
  request[17] = 36;
  request[20] |= 0x20;  // more fragments
  fix_ipv4_checksum(request);
  EXPECT_EQ(balancer_.send({request, 0, 128, {}}).cause, DropCause::kUnsupportedProtocol);
  for (const size_t ip_bytes : {1'500U, 1'501U}) {
    request = net::kEcho4;
    request.resize(14 + ip_bytes);
    request[16] = static_cast<uint8_t>(ip_bytes >> 8);
    request[17] = static_cast<uint8_t>(ip_bytes & 0xff);
    fix_ipv4_checksum(request);
    EXPECT_EQ(balancer_.send({request, 0, 128, {}}).cause.has_value(), ip_bytes > 1'500);
  }
  EXPECT_EQ(balancer_.report().echo_replies, 1u);
}

// No other station sends from our addresses: the reply would come back to us.
TEST_F(LbNeighbours, pings_from_our_own_addresses_are_martians) {
  net::Bytes request = net::kEcho4;
  for (const uint8_t last : {uint8_t{53}, uint8_t{80}}) {
    std::copy_n(std::array<uint8_t, 4>{198, 51, 100, last}.begin(), 4, request.begin() + 26);
    fix_ipv4_checksum(request);
    EXPECT_EQ(balancer_.send({request, 0, 128, {}}).cause, DropCause::kMartian);
  }
}

TEST_F(LbNeighbours, solicitations_are_received_on_the_right_vlan_only) {
  net::Bytes request = net::kArpRequest;
  EXPECT_TRUE(balancer_.send({request, 0, 128, {}}).is_consumed);
  EXPECT_EQ(take_originated().size(), 1u);
  const std::vector<uint8_t> tag = {0x81, 0, 0, 5};
  request.insert(request.begin() + 12, tag.begin(), tag.end());
  EXPECT_EQ(balancer_.send({request, 0, 128, {}}).cause, DropCause::kNotForUs);
  EXPECT_TRUE(balancer_.send({net::kSolicitation, 0, 128, {}}).is_consumed);
  EXPECT_EQ(take_originated().at(0).frame[54], 136);
  net::Bytes wrong = net::kSolicitation;
  wrong[60] ^= 1;
  EXPECT_EQ(balancer_.send({wrong, 0, 128, {}}).cause, DropCause::kBadNeighbourMessage);
}

TEST_F(LbNeighbours, a_hundred_thousand_lies_harm_no_established_flow) {
  balancer_.send_from_client(dns_query());
  backend_answers_arp();
  balancer_.send_from_backend(dns_answer());
  balancer_.send({is_at("192.0.2.10", kClientMac, "192.0.2.1", kPort0Mac), 0, 128, {}});
  take_originated();
  std::mt19937 random(11);
  const auto byte = [&] { return static_cast<uint8_t>(random()); };
  uint64_t sent = 0;
  for (int batch = 0; batch < 100'000 / 32; ++batch) {
    std::vector<Arrival> arrivals;
    for (int i = 0; i < 32; ++i, ++sent) {
      const Ipv4Address sender =
          random() % 4 == 0 ? ip("10.0.0.11") : Ipv4Address{{10, 0, 0, byte()}};
      const MacAddress mac = {{2, 6, 6, 6, byte(), byte()}};
      const net::ArpMessage lie = {random() % 2 == 0, mac, sender, kPort1Mac, ip("10.0.0.1")};
      arrivals.push_back({arp_frame(lie, kPort1Mac), 1, 128, {}});
    }
    if (batch % 50 == 0) ++balancer_.now.count;
    balancer_.send_batch(arrivals);
    for (const Fate& own : take_originated()) {  // the true one answers what it is asked
      if (own.frame[13] == 6 && own.frame[21] == 1 && own.frame[41] == 11) backend_answers_arp();
    }
    const Fate passed = balancer_.send_from_client(dns_query());
    ASSERT_EQ(passed.out_port, 1);
    ASSERT_EQ(passed.frame[5], 0x11) << "it still goes to the backend's own MAC";
    take_originated();
  }
  const Report report = balancer_.report();
  const l3::NeighbourCounters& c = report.neighbours.counters;
  EXPECT_EQ(c.mac_changes, 0u);
  EXPECT_GE(report.run.consumed, sent);
  EXPECT_GT(c.unsolicited_probed, 10u);
  EXPECT_GT(c.learned, 100u);
  EXPECT_GT(c.unsolicited_ignored, 10'000u);
}

}  // namespace
}  // namespace roost::lb
