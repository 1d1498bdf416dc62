// Neighbours as a state machine over messages and ticks: solicited, confirmed, stale, probed,
// failed.
#include "tests/l3/neighbours_fixture.h"

namespace roost::l3 {
namespace {

TEST_F(NeighboursTest, an_unknown_one_is_solicited_and_what_waits_leaves_in_order) {
  const NeighbourIndex alice = neighbours_->find_or_make(0, kAlice, now_);
  EXPECT_EQ(neighbours_->find_or_make(0, kAlice, now_), alice);
  EXPECT_EQ(use(alice), Way::kWaits);
  keep(alice, 1);
  EXPECT_EQ(use(alice), Way::kWaits);
  keep(alice, 2);
  std::vector<Sent> sent = take_sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].what, "who-has");
  EXPECT_EQ(sent[0].about, kAlice);
  EXPECT_EQ(sent[0].to, net::kBroadcastMac);

  alice_advertises();
  ASSERT_EQ(outbox_.frame_count(), 2u);
  for (const uint8_t number : {uint8_t{1}, uint8_t{2}}) {
    const net::Outbox::Frame frame = outbox_.frame(number - 1u);
    EXPECT_TRUE(std::equal(kAliceMac.bytes.begin(), kAliceMac.bytes.end(), frame.bytes.begin()));
    EXPECT_EQ(frame.bytes[59], number);
  }
  outbox_.clear();
  EXPECT_EQ(use(alice), Way::kKnown);
  EXPECT_EQ(neighbours_->mac(alice), kAliceMac);
  EXPECT_TRUE(outbox_.is_empty());
  EXPECT_EQ(counters().waited, 2u);
  EXPECT_EQ(counters().released, 2u);
}

TEST_F(NeighboursTest, an_ipv6_one_too_by_solicitation_of_its_group) {
  const NeighbourIndex alice = neighbours_->find_or_make(0, kAlice6, now_);
  EXPECT_EQ(use(alice), Way::kWaits);
  const std::vector<Sent> sent = take_sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].what, "solicit");
  EXPECT_EQ(sent[0].to, (MacAddress{{0x33, 0x33, 0xff, 0, 0, 0x10}}));
  net::NeighbourMessage advertisement = {.is_solicited = true,
                                         .is_override = true,
                                         .source = kAlice6.ipv6(),
                                         .destination = kOwn6.ipv6(),
                                         .target = kAlice6.ipv6()};
  neighbours_->receive(0, advertisement, kAliceMac, now_, outbox_);
  EXPECT_EQ(entry(alice).state, kIncomplete) << "no link-layer address, no advertisement";
  advertisement.link_address = kAliceMac;
  neighbours_->receive(0, advertisement, kAliceMac, now_, outbox_);
  EXPECT_EQ(entry(alice).state, kReachable);

  // After a probe it may leave the link-layer address out; one without override changes no MAC.
  pass(30);
  EXPECT_EQ(entry(alice).state, kStale);
  EXPECT_EQ(use(alice), Way::kKnown);
  EXPECT_EQ(take_sent().at(0).to, kAliceMac) << "a probe goes to the station itself";
  advertisement.link_address = kMalloryMac;
  advertisement.is_override = false;
  neighbours_->receive(0, advertisement, kMalloryMac, now_, outbox_);
  EXPECT_EQ(entry(alice).state, kProbe);
  EXPECT_EQ(entry(alice).mac, kAliceMac);
  advertisement.link_address.reset();
  neighbours_->receive(0, advertisement, kAliceMac, now_, outbox_);
  EXPECT_EQ(entry(alice).state, kReachable);
}

TEST_F(NeighboursTest, a_silent_one_is_solicited_three_times_then_failed_and_solicited_anew) {
  const NeighbourIndex alice = neighbours_->find_or_make(0, kAlice, now_);
  EXPECT_EQ(use(alice), Way::kWaits);
  keep(alice, 1);
  pass(2);
  EXPECT_EQ(take_sent().size(), 3u);
  EXPECT_EQ(entry(alice).state, kIncomplete);
  pass(1);
  EXPECT_EQ(entry(alice).state, kFailed);
  EXPECT_EQ(counters().lost_failed, 1u);
  EXPECT_EQ(counters().failed, 1u);
  EXPECT_EQ(use(alice), Way::kFailed);
  EXPECT_TRUE(take_sent().empty());
  pass(1);
  EXPECT_EQ(use(alice), Way::kWaits);
  EXPECT_EQ(take_sent().size(), 1u);
  alice_advertises();
  EXPECT_EQ(use(alice), Way::kKnown);
}

TEST_F(NeighboursTest, a_stale_one_that_is_used_is_probed_first_alone_then_before_all) {
  const NeighbourIndex alice = reachable_alice();
  pass(29);
  EXPECT_EQ(entry(alice).state, kReachable);
  pass(1);
  EXPECT_EQ(entry(alice).state, kStale);
  EXPECT_TRUE(take_sent().empty()) << "it is unused";
  EXPECT_EQ(use(alice), Way::kKnown);
  EXPECT_EQ(take_sent().at(0).to, kAliceMac);
  pass(1);
  EXPECT_EQ(take_sent().at(0).to, net::kBroadcastMac);
  EXPECT_EQ(use(alice), Way::kKnown);
  alice_advertises(kMalloryMac);  // moved to another machine
  EXPECT_EQ(entry(alice).state, kReachable);
  EXPECT_EQ(neighbours_->mac(alice), kMalloryMac);
  EXPECT_EQ(counters().mac_changes, 1u);
  pass(30);
  use(alice);
  pass(3);
  EXPECT_EQ(entry(alice).state, kFailed);
}

TEST_F(NeighboursTest, what_nobody_needs_is_forgotten_but_for_the_pinned) {
  const NeighbourIndex pinned = neighbours_->pin(0, ip("192.0.2.11"));
  EXPECT_EQ(neighbours_->pin(0, ip("192.0.2.11")), pinned);
  EXPECT_EQ(use(pinned), Way::kWaits);
  const NeighbourIndex alice = reachable_alice();
  receive_arp(true, ip("192.0.2.12"), kMalloryMac, kOwn);
  EXPECT_EQ(counters().learned, 1u);
  pass(640);
  EXPECT_TRUE(entry(alice).is_free);
  EXPECT_FALSE(neighbours_->is_still(alice, kAlice));
  EXPECT_EQ(counters().forgotten, 2u);
  EXPECT_EQ(neighbours_->table().count(), 1u);
  EXPECT_TRUE(neighbours_->is_still(pinned, kAlice));
}

TEST_F(NeighboursTest, solicitations_for_our_addresses_are_answered_and_others_are_not) {
  for (const net::IpAddress& own : {kOwn, kVirtual}) {
    receive_arp(true, kAlice, kAliceMac, own);
    const std::vector<Sent> sent = take_sent();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].what, "is-at");
    EXPECT_EQ(sent[0].about, own);
    EXPECT_EQ(sent[0].to, kAliceMac);
  }
  receive_arp(true, kAlice, kAliceMac, ip("192.0.2.77"));
  receive_arp(true, kAlice, kAliceMac, kAlice);
  EXPECT_TRUE(take_sent().empty());
  // One that checks whether the address is free is answered, and nothing is learned of it.
  receive_arp(true, ip("0.0.0.0"), kMalloryMac, kOwn);
  EXPECT_EQ(take_sent().size(), 1u);
  EXPECT_EQ(neighbours_->table().count(), 1u);
  receive_arp(true, kOwn, kMalloryMac, kOwn);
  EXPECT_TRUE(take_sent().empty());
  EXPECT_EQ(counters().conflicts, 1u);

  net::NeighbourMessage solicitation = {.is_solicitation = true,
                                        .source = kAlice6.ipv6(),
                                        .destination = net::solicited_node_group(kOwn6.ipv6()),
                                        .target = kOwn6.ipv6(),
                                        .link_address = kAliceMac};
  neighbours_->receive(0, solicitation, kAliceMac, now_, outbox_);
  std::vector<Sent> sent = take_sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].what, "advertise");
  EXPECT_EQ(sent[0].to, kAliceMac);
  EXPECT_EQ(neighbours_->table().count(), 2u);
  solicitation.source = {};
  solicitation.link_address.reset();
  neighbours_->receive(0, solicitation, kAliceMac, now_, outbox_);
  sent = take_sent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, (MacAddress{{0x33, 0x33, 0, 0, 0, 1}}));
  solicitation.target = kAlice6.ipv6();
  neighbours_->receive(0, solicitation, kAliceMac, now_, outbox_);
  EXPECT_TRUE(take_sent().empty());
}

TEST_F(NeighboursTest, unsolicited_advertisements_make_no_entry_and_change_none) {
  receive_arp(false, kAlice, kMalloryMac, kOwn);
  receive_arp(false, kAlice, kMalloryMac, kAlice);
  EXPECT_EQ(neighbours_->table().count(), 0u);
  const NeighbourIndex alice = reachable_alice();
  pass(2);
  receive_arp(false, kAlice, kMalloryMac, kOwn);
  EXPECT_EQ(neighbours_->mac(alice), kAliceMac);
  EXPECT_EQ(entry(alice).state, kProbe);
  EXPECT_EQ(take_sent().at(0).to, kAliceMac) << "the owner is solicited, alone";
  receive_arp(false, kAlice, kMalloryMac, kOwn);
  EXPECT_EQ(neighbours_->mac(alice), kAliceMac) << "and no other station may advertise";
  receive_arp(true, kAlice, kMalloryMac, kOwn);
  EXPECT_EQ(neighbours_->mac(alice), kAliceMac);
  EXPECT_EQ(take_sent().size(), 1u) << "the advertisement for the solicitation, no second probe";
  alice_advertises();
  EXPECT_EQ(entry(alice).state, kReachable);
  EXPECT_EQ(neighbours_->mac(alice), kAliceMac);
  EXPECT_EQ(counters().unsolicited_probed, 1u);
  EXPECT_EQ(counters().mac_changes, 0u);
}

TEST_F(NeighboursTest, a_failover_that_is_announced_is_followed_when_the_old_owner_is_silent) {
  const NeighbourIndex alice = reachable_alice();
  pass(2);
  receive_arp(false, kAlice, kMalloryMac, kAlice);  // gratuitous: another machine has it now
  EXPECT_EQ(take_sent().at(0).to, kAliceMac);
  pass(1);
  EXPECT_EQ(take_sent().at(0).to, net::kBroadcastMac);
  EXPECT_EQ(use(alice), Way::kKnown);
  alice_advertises(kMalloryMac);
  EXPECT_EQ(entry(alice).state, kReachable);
  EXPECT_EQ(neighbours_->mac(alice), kMalloryMac);
}

TEST_F(NeighboursTest, the_sender_of_a_solicitation_is_believed_until_it_advertises) {
  const NeighbourIndex alice = neighbours_->find_or_make(0, kAlice, now_);
  use(alice);
  keep(alice, 9);
  take_sent();
  receive_arp(true, kAlice, kAliceMac, kOwn);
  EXPECT_EQ(take_sent().size(), 2u) << "our advertisement, and the frame that waited";
  EXPECT_EQ(use(alice), Way::kKnown);
  EXPECT_EQ(entry(alice).state, kProbe);
}

TEST_F(NeighboursTest, a_static_one_is_what_the_configuration_says_whoever_says_otherwise) {
  const NeighbourIndex index = neighbours_->pin_static(0, ip("192.0.2.50"), kAliceMac);
  const NeighbourIndex gateway = neighbours_->pin_static(0, {}, kAliceMac);
  receive_arp(false, ip("192.0.2.50"), kMalloryMac, kOwn);
  receive_arp(true, ip("192.0.2.50"), kMalloryMac, kOwn);
  pass(1000);
  EXPECT_EQ(use(index), Way::kKnown);
  EXPECT_EQ(use(gateway), Way::kKnown);
  EXPECT_EQ(neighbours_->mac(index), kAliceMac);
  EXPECT_EQ(neighbours_->find_or_make(0, ip("192.0.2.50"), now_), index);
}

}  // namespace
}  // namespace roost::l3
