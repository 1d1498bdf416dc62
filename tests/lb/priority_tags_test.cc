// Frames with a tag of VLAN 0, which says a priority and names no VLAN (IEEE 802.1Q clause 6.9.1):
// a port without tags takes them, and what it sends has none.
#include <gtest/gtest.h>

#include "tests/lb/test_icmp.h"
#include "tests/lb/test_neighbours.h"
#include "tests/net/message_frames.h"

namespace roost::lb {
namespace {

using net::Bytes;

// With the tag of either protocol identifier behind the MAC addresses.
Bytes with_priority(Bytes frame, uint8_t protocol_identifier_high = 0x81) {
  const Bytes tag = {protocol_identifier_high,
                     protocol_identifier_high == 0x81 ? uint8_t{0} : uint8_t{0xa8}, 0xa0, 0};
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  return frame;
}

class PriorityTags : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(broken_sums(balancer_.report()), std::vector<std::string>());
  }
  Fate send(const Bytes& frame) { return balancer_.send({frame, 0, 128, {}}); }
  // The only frame that the balancer sent of its own.
  Bytes own_frame() {
    EXPECT_EQ(balancer_.originated.size(), 1U);
    return balancer_.originated.empty() ? Bytes() : balancer_.originated[0].frame;
  }

  TestBalancer balancer_;
};

TEST_F(PriorityTags, a_packet_goes_on_as_if_it_had_none) {
  const PacketSpec query = dns_query();
  const Fate plain = send(make_frame(query));
  ASSERT_EQ(plain.cause, std::nullopt);
  EXPECT_EQ(send(with_priority(make_frame(query))).frame, plain.frame);
  EXPECT_EQ(send(with_priority(make_frame(query), 0x88)).frame, plain.frame);
}

TEST_F(PriorityTags, pings_are_answered_without) {
  EXPECT_EQ(send(with_priority(net::kEcho4)).frame, net::kEchoReply4);
  EXPECT_EQ(send(with_priority(net::kEcho6)).frame, net::kEchoReply6);
}

TEST_F(PriorityTags, a_broadcast_arp_request_is_answered_without) {
  EXPECT_TRUE(send(with_priority(net::kArpRequest)).is_consumed);
  const Bytes reply = own_frame();
  EXPECT_EQ(reply[12], 8);
  EXPECT_EQ(reply[13], 6);
}

TEST_F(PriorityTags, a_solicitation_is_answered_without) {
  EXPECT_TRUE(send(with_priority(net::kSolicitation)).is_consumed);
  EXPECT_EQ(own_frame(), net::kAdvertisement);
}

TEST_F(PriorityTags, an_icmp_error_has_none) {
  PacketSpec query = dns_query();
  query.ttl = 1;
  EXPECT_EQ(send(with_priority(make_frame(query))).cause, DropCause::kTtlExpired);
  const Bytes frame = own_frame();
  EXPECT_EQ(frame[12], 8);
  EXPECT_EQ(frame[13], 0);
  EXPECT_EQ(Bytes(frame.begin() + 42, frame.end()), [&] {
    const Bytes about = make_frame(query);
    return Bytes(about.begin() + 14, about.end());
  }());
}

// They have no priority either, like all that leaves.
TEST(tagged_port, answers_have_the_ports_own_tag) {
  TestBalancer balancer(
      test_config("mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:01\"\nvlan = [5]"));
  Bytes request = with_priority(net::kEcho4);
  request[15] = 5;
  const Bytes reply = balancer.send({request, 0, 128, {}}).frame;
  EXPECT_EQ(Bytes(reply.begin() + 12, reply.begin() + 16), (Bytes{0x81, 0, 0, 5}));
  PacketSpec query = dns_query();
  query.vlan = {5};
  query.ttl = 1;
  EXPECT_EQ(balancer.send({make_frame(query), 0, 128, {}}).cause, DropCause::kTtlExpired);
  ASSERT_EQ(balancer.originated.size(), 1U);
  const Bytes& error = balancer.originated[0].frame;
  EXPECT_EQ(Bytes(error.begin() + 12, error.begin() + 16), (Bytes{0x81, 0, 0, 5}));
  EXPECT_EQ(balancer.send({with_priority(net::kEcho4), 0, 128, {}}).cause, DropCause::kWrongVlan);
}

}  // namespace
}  // namespace roost::lb
