// What strangers can cause to a worker's neighbours is bounded and counted.
#include <map>
#include <random>

#include "tests/l3/neighbours_fixture.h"

namespace roost::l3 {
namespace {

TEST_F(NeighboursTest, queues_are_bounded_for_one_and_for_all) {
  make({.waiting_each_max = 3, .waiting = {.frame_count_max = 5, .frame_bytes_max = 60}});
  const NeighbourIndex a = neighbours_->find_or_make(0, ip("192.0.2.11"), now_);
  const NeighbourIndex b = neighbours_->find_or_make(0, ip("192.0.2.12"), now_);
  EXPECT_EQ(neighbours_->use(a, 61, now_, outbox_), Way::kQueueFull);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(use(a), Way::kWaits);
    keep(a, 1);
  }
  EXPECT_EQ(use(a), Way::kQueueFull);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(use(b), Way::kWaits);
    keep(b, 1);
  }
  EXPECT_EQ(use(b), Way::kQueueFull);
  EXPECT_EQ(neighbours_->waiting_count(), 5u);
  pass(3);
  EXPECT_EQ(counters().lost_failed, 5u);
  EXPECT_EQ(neighbours_->waiting_count(), 0u);
}

TEST_F(NeighboursTest, solicitations_in_a_tick_are_bounded_and_nobody_is_passed_over) {
  make({.solicitations_a_tick_max = 10});
  std::vector<NeighbourIndex> all;
  for (uint8_t i = 0; i < 25; ++i) {
    all.push_back(neighbours_->find_or_make(
        0, Ipv4Address{{192, 0, 2, static_cast<uint8_t>(100 + i)}}, now_));
    EXPECT_EQ(use(all.back()), Way::kWaits);
  }
  EXPECT_EQ(take_sent().size(), 10u);
  std::map<net::IpAddress, int> solicited;
  for (int tick = 0; tick < 9; ++tick) {
    pass(1);
    const std::vector<Sent> sent = take_sent();
    EXPECT_LE(sent.size(), 10u);
    for (const Sent& one : sent) ++solicited[one.about];
  }
  EXPECT_EQ(solicited.size(), 25u);
  EXPECT_GT(counters().solicitations_deferred, 0u);
}

// Everything that a stranger could say, but for advertisements from the true owners.
class Flood : public NeighboursTest {
 protected:
  void receive_false_claim(std::mt19937& random) {
    const Ipv4Address any = {
        {10, 9, static_cast<uint8_t>(random()), static_cast<uint8_t>(random() | 2)}};
    const MacAddress mac = {
        {2, 6, 6, 6, static_cast<uint8_t>(random()), static_cast<uint8_t>(random())}};
    switch (random() % 5) {
      case 0:
        receive_arp(false, any, mac, kOwn);
        break;
      case 1:
        receive_arp(true, any, mac, kOwn);
        break;
      case 2:
        receive_arp(false, random() % 2 == 0 ? kAlice : ip("192.0.2.11"), mac, kOwn);
        break;
      case 3:
        receive_arp(true, kAlice, mac, kVirtual);
        break;
      default: {
        Ipv6Address from = kAlice6.ipv6();
        from.bytes[14] = static_cast<uint8_t>(random());
        from.bytes[13] = static_cast<uint8_t>(random());
        neighbours_->receive(0,
                             {.is_solicitation = true,
                              .source = from,
                              .destination = net::solicited_node_group(kOwn6.ipv6()),
                              .target = kOwn6.ipv6(),
                              .link_address = mac},
                             mac, now_, outbox_);
      }
    }
  }
};

TEST_F(Flood, a_flood_of_lies_leaves_the_table_in_its_bound_and_the_established_alone) {
  make({.dynamic_count_max = 256});
  const NeighbourIndex alice = reachable_alice();
  const NeighbourIndex backend = neighbours_->pin(0, ip("192.0.2.11"));
  use(backend);
  receive_arp(false, ip("192.0.2.11"), kAliceMac, kOwn);
  std::mt19937 random(3);
  const NeighbourCounters before = counters();
  for (int i = 0; i < 100'000; ++i) {
    if (i % 1000 == 0) {
      pass(1);
      use(alice);
      use(backend);
      for (const Sent& sent : take_sent()) {  // the true owners advertise
        if (sent.what == "who-has") receive_arp(false, sent.about, kAliceMac, kOwn);
      }
    }
    receive_false_claim(random);
    ASSERT_EQ(neighbours_->mac(alice), kAliceMac);
    ASSERT_EQ(neighbours_->mac(backend), kAliceMac);
    ASSERT_LE(neighbours_->table().count(), 256u + 4u);
  }
  EXPECT_TRUE(neighbours_->is_still(alice, kAlice));
  EXPECT_EQ(use(alice), Way::kKnown);
  EXPECT_EQ(counters().mac_changes, 0u);
  EXPECT_GT(counters().evicted, 20'000u);
  EXPECT_GT(counters().unsolicited_probed, 0u);
  EXPECT_LE(counters().solicitations_sent - before.solicitations_sent, 100u * 6);
  EXPECT_TRUE(neighbours_->audit());
}

TEST_F(NeighboursTest, who_only_asked_us_pushes_out_no_stale_one_that_was_needed) {
  make({.dynamic_count_max = 3});
  for (uint8_t i = 100; i < 107; ++i) {
    const NeighbourIndex index = neighbours_->find_or_make(0, Ipv4Address{{192, 0, 2, i}}, now_);
    use(index);
    receive_arp(false, Ipv4Address{{192, 0, 2, i}}, kAliceMac, kOwn);
  }
  pass(31);
  ASSERT_EQ(neighbours_->table().counts_by_state()[static_cast<size_t>(kStale)], 7u);
  receive_arp(true, ip("192.0.2.201"), kMalloryMac, kOwn);
  EXPECT_EQ(counters().ignored_full, 1u);
  EXPECT_EQ(neighbours_->table().counts_by_state()[static_cast<size_t>(kStale)], 7u);
}

TEST_F(NeighboursTest, needed_ones_push_out_learned_ones_and_never_the_reachable) {
  make({.dynamic_count_max = 3});
  const NeighbourIndex alice = reachable_alice();
  for (uint8_t i = 100; i < 105; ++i) {
    receive_arp(true, Ipv4Address{{192, 0, 2, i}}, kMalloryMac, kOwn);
  }
  // One pinned entry's room is unused and may be taken, too: 4 + 3 entries in all.
  EXPECT_EQ(neighbours_->table().count(), 6u);
  for (uint8_t i = 110; i < 140; ++i) {
    const NeighbourIndex index = neighbours_->find_or_make(0, Ipv4Address{{192, 0, 2, i}}, now_);
    ASSERT_NE(index, kNoNeighbour);
    use(index);
    receive_arp(false, Ipv4Address{{192, 0, 2, i}}, kMalloryMac, kOwn);
    if (i == 115) break;
  }
  EXPECT_EQ(neighbours_->table().count(), 7u);
  EXPECT_EQ(neighbours_->find_or_make(0, ip("192.0.2.200"), now_), kNoNeighbour);
  EXPECT_EQ(counters().refused_full, 1u);
  receive_arp(true, ip("192.0.2.201"), kMalloryMac, kOwn);
  EXPECT_EQ(counters().ignored_full, 1u);
  EXPECT_EQ(entry(alice).state, kReachable);
}

}  // namespace
}  // namespace roost::l3
