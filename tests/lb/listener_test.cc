// The balancer among queriers of multicast listener discovery, and its link-local addresses, from
// which it speaks to them.
#include <gtest/gtest.h>

#include "roost/net/multicast_listener.h"
#include "roost/net/neighbour_discovery.h"
#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_neighbours.h"
#include "tests/net/message_frames.h"

namespace roost::lb {
namespace {

class Listener : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(broken_sums(balancer_.report()), std::vector<std::string>());
  }
  std::vector<Fate> pass(uint64_t ticks) {
    for (uint64_t i = 0; i <= ticks; ++i, ++balancer_.now.count) balancer_.idle();
    return std::exchange(balancer_.originated, {});
  }

  TestBalancer balancer_;
};

// 2001:db8:1::1, and fe80::ff:fe00:1 of the port's MAC, have the same group.
TEST_F(Listener, a_query_is_answered_for_the_port_that_received_it) {
  const Fate fate = balancer_.send({net::kQuery2, 0, 128, {}});
  EXPECT_TRUE(fate.is_consumed);
  EXPECT_TRUE(fate.is_copied) << "the other workers learn which version is spoken";
  const std::vector<Fate> sent = pass(10);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].out_port, 0);
  Bytes expected(14 + net::listener_report_bytes(1));
  const net::ListenerRecord record = {
      net::ListenerRecord::Kind::kListens,
      net::solicited_node_group({{0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}})};
  const auto packet = net::write_frame_header(
      expected, {.macs = {.source = kPort0Mac, .destination = {{0x33, 0x33, 0, 0, 0, 0x16}}},
                 .vlan = {},
                 .ether_type = net::ethernet::kIpv6});
  net::write_listener_report(packet, net::link_local_address(kPort0Mac), std::span(&record, 1));
  EXPECT_EQ(sent[0].frame, expected);
  EXPECT_EQ(balancer_.report().neighbours.listener.queries, 1U);
  EXPECT_EQ(balancer_.report().neighbours.listener.reports, 1U);
}

TEST_F(Listener, a_copy_of_a_query_is_learned_from_and_not_answered) {
  balancer_.send({net::kQuery1, 0, 128, {}, net::PacketOrigin::kCopy});
  EXPECT_TRUE(pass(10).empty());
}

TEST_F(Listener, what_is_no_query_is_dropped_by_its_cause) {
  Bytes wrong = net::kQuery2;
  wrong[21] = 2;
  EXPECT_EQ(balancer_.send({wrong, 0, 128, {}}).cause, DropCause::kBadNeighbourMessage);
  EXPECT_EQ(balancer_.send({net::kReport2, 0, 128, {}}).cause, DropCause::kNotForUs);
  EXPECT_TRUE(pass(10).empty());
}

TEST_F(Listener, the_ports_link_local_address_is_answered_for) {
  Bytes solicitation = net::kSolicitation;
  const net::Ipv6Address target = net::link_local_address(kPort0Mac);
  std::copy(target.bytes.begin(), target.bytes.end(), solicitation.begin() + net::kIcmp6At + 8);
  net::mend_checksum(solicitation);
  EXPECT_TRUE(balancer_.send({solicitation, 0, 128, {}}).is_consumed);
  ASSERT_EQ(balancer_.originated.size(), 1U);
  EXPECT_EQ(balancer_.originated[0].frame[net::kIcmp6At], 136);
  EXPECT_TRUE(balancer_.send({solicitation, 1, 128, {}}).is_consumed);
  EXPECT_EQ(balancer_.originated.size(), 1U) << "it is the other port's";
}

}  // namespace
}  // namespace roost::lb
