// Announcements of the addresses that are advertised: which frames, how often, how many at once.
#include "tests/l3/neighbours_fixture.h"

namespace roost::l3 {
namespace {

class AnnouncerTest : public NeighboursTest {
 protected:
  void announce() {
    neighbours_->announce();
    neighbours_->advance(now_, outbox_, 1000);
  }
  // The advertisements of an address since the last time.
  std::vector<Sent> take_about(const net::IpAddress& address) {
    std::vector<Sent> about;
    for (const Sent& sent : take_sent()) {
      if (sent.about == address) about.push_back(sent);
    }
    return about;
  }
};

TEST_F(AnnouncerTest, every_address_is_announced_at_once_and_twice_more) {
  neighbours_->advance(now_, outbox_, 1000);
  EXPECT_TRUE(outbox_.is_empty()) << "not announced yet";
  announce();
  EXPECT_EQ(take_sent().size(), 4U);
  neighbours_->advance(now_, outbox_, 1000);
  EXPECT_TRUE(outbox_.is_empty());
  for (int round = 0; round < 2; ++round) {
    pass(1);
    EXPECT_EQ(take_sent().size(), 4U);
  }
  pass(10);
  EXPECT_TRUE(outbox_.is_empty());
  EXPECT_EQ(counters().unsolicited_sent, 12U);
}

TEST_F(AnnouncerTest, ipv4_is_a_broadcast_request_for_the_senders_own_address) {
  announce();
  for (size_t i = 0; i < outbox_.frame_count(); ++i) {
    const auto bytes = outbox_.frame(i).bytes;
    const auto message = net::parse_arp(bytes.subspan(14));
    if (!message) continue;
    EXPECT_TRUE(message->is_request);
    EXPECT_EQ(message->sender, message->target);
    EXPECT_EQ(message->sender_mac, kPortMac);
    EXPECT_EQ(message->target_mac, MacAddress{});
  }
  const std::vector<Sent> sent = take_about(kVirtual);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].to, net::kBroadcastMac);
}

TEST_F(AnnouncerTest, ipv6_is_an_advertisement_to_all_nodes_that_overrides) {
  announce();
  int seen = 0;
  for (size_t i = 0; i < outbox_.frame_count(); ++i) {
    net::TestFrame frame(outbox_.frame(i).bytes);
    net::ParsedPacket parsed;
    (void)parse(frame.packet, parsed);
    const auto message = net::parse_neighbour_message(frame.packet, parsed);
    if (!message) continue;
    ++seen;
    EXPECT_EQ(*message, (net::NeighbourMessage{.is_router = true,
                                               .is_override = true,
                                               .source = kOwn6.ipv6(),
                                               .destination = net::kAllNodes,
                                               .target = kOwn6.ipv6(),
                                               .link_address = kPortMac}));
    EXPECT_EQ(net::read_macs(frame.packet).destination, net::group_mac(net::kAllNodes));
  }
  EXPECT_EQ(seen, 1);
}

TEST_F(AnnouncerTest, many_addresses_are_announced_over_some_ticks) {
  make({.unsolicited_a_tick_max = 100});
  std::vector<LocalAddress> many;
  for (int i = 0; i < 250; ++i) {
    many.push_back({0, net::Ipv4Address{{10, 9, 1, static_cast<uint8_t>(i)}}});
  }
  neighbours_->exchange_local(many);
  neighbours_->announce();
  for (const size_t expected : {100U, 100U, 100U, 100U, 100U, 100U, 100U, 50U, 0U}) {
    size_t sent_before = 0;
    for (int turn = 0; turn < 10; ++turn) {
      neighbours_->advance(now_, outbox_, 1000);
      EXPECT_LE(outbox_.frame_count() - sent_before, 32U) << "in a turn";
      sent_before = outbox_.frame_count();
    }
    EXPECT_EQ(take_sent().size(), expected);
    ++now_.count;
  }
}

TEST_F(AnnouncerTest, what_finds_no_room_is_announced_later) {
  net::Outbox small({.frame_count_max = 3});
  neighbours_->announce();
  size_t sent = 0;
  for (int turn = 0; turn < 3; ++turn) {
    neighbours_->advance(now_, small, 1000);
    sent += small.frame_count();
    small.clear();
  }
  EXPECT_EQ(sent, 4U);
  EXPECT_EQ(counters().unsolicited_sent, 4U);
}

// Other addresses, or another word from the operator: all of them are announced thrice from then.
TEST_F(AnnouncerTest, begins_anew) {
  announce();
  pass(1);
  take_sent();
  std::vector<LocalAddress> others = {{0, kVirtual}};
  neighbours_->exchange_local(others);
  pass(5);
  EXPECT_EQ(take_sent().size(), 3U);
  neighbours_->exchange_local(others);
  pass(1);
  EXPECT_TRUE(outbox_.is_empty()) << "an exchange alone says nothing";
}

}  // namespace
}  // namespace roost::l3
