// One connection more than there are places: which is evicted, and when none is.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "roost/hash/bucket_map.h"
#include "roost/table/flow_table.h"
#include "tests/lb/flooded_balancer.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kFin;
using net::tcp::kRst;
using net::tcp::kSyn;

// Fills all places by `begin`, and says what becomes of one more.
template <class Begin>
std::optional<DropCause> one_more_after(FloodedBalancer& world, Begin&& begin) {
  for (uint32_t i = 0; i < kPlaces; ++i) begin(i);
  return world.balancer().send_from_client(world.from(kPlaces, true, kSyn)).cause;
}

const Flood kSyns = {"of_syns", false, net::IpProtocol::kTcp, kSynOnly};

TEST(full_table, of_assured_connections_refuses) {
  FloodedBalancer world(kSyns);
  const auto cause = one_more_after(world, [&](uint32_t i) { world.assure(i); });
  EXPECT_EQ(cause, DropCause::kTableFull);
  const Report report = world.balancer().report();
  EXPECT_EQ(report.live, kPlaces);
  EXPECT_EQ(report.flows.evicted, 0U);
}

TEST(full_table, of_closed_connections_ends_one) {
  FloodedBalancer world(kSyns);
  const auto cause = one_more_after(world, [&](uint32_t i) {
    const Client client = world.assure(i);
    ASSERT_TRUE(world.answer(client, kFin | kAck));
    ASSERT_TRUE(world.stays(client, kFin | kAck));
  });
  EXPECT_EQ(cause, std::nullopt);
  const Report report = world.balancer().report();
  EXPECT_EQ(report.flows.ended, 1U);
  EXPECT_EQ(report.flows.evicted, 0U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

// An RST may not have been believed; these go when their time is over.
TEST(full_table, of_reset_connections_refuses) {
  FloodedBalancer world(kSyns);
  const auto cause = one_more_after(world, [&](uint32_t i) {
    const Client client = world.assure(i);
    ASSERT_TRUE(world.answer(client, kRst));
  });
  EXPECT_EQ(cause, DropCause::kTableFull);
  world.balancer().now.count += 11;
  EXPECT_EQ(world.ask(kPlaces + 1, kSyn).has_value(), true);
  EXPECT_EQ(world.balancer().report().flows.ended, kPlaces);
}

// Of assured connections none of which was used in the last ten seconds, one that has been silent
// for longer than most goes.
TEST(full_table, of_silent_connections_evicts_one_of_the_longest_silent) {
  FloodedBalancer world(kSyns);
  std::vector<Client> clients;
  for (uint32_t i = 0; i < kPlaces; ++i) {
    clients.push_back(world.assure(i));
    if (i % (kPlaces / 100) == 0) ++world.balancer().now.count;
  }
  const uint64_t last = world.balancer().now.count;
  constexpr uint32_t kNew = 100;
  world.balancer().now.count = last + 9;
  // One used ten seconds ago or later stays; the earlier it began, the sooner it goes.
  for (uint32_t i = 0; i < kNew; ++i) {
    EXPECT_EQ(world.balancer().send_from_client(world.from(kPlaces + i, true, kSyn)).cause,
              std::nullopt);
    world.assure(kPlaces + i);
  }
  EXPECT_EQ(world.balancer().report().flows.evicted, kNew);
  size_t early_lost = 0;
  for (uint32_t i = 0; i < kPlaces; ++i) {
    const bool is_there = world.answer(clients[i], kSyn | kAck);
    if (!is_there && i < kPlaces / 4) ++early_lost;
    if (i >= kPlaces * 98 / 100) {
      ASSERT_TRUE(is_there) << i;
    }
  }
  EXPECT_GE(early_lost, kNew * 9 / 10);
  EXPECT_EQ(broken_sums(world.balancer().report()), std::vector<std::string>());
}

// None that was used in the last ten seconds is evicted, whatever share of its time that is.
TEST(full_table, of_connections_silent_for_nine_seconds_refuses) {
  FloodedBalancer world(kSyns);
  for (uint32_t i = 0; i < kPlaces; ++i) world.assure(i);
  world.balancer().now.count += 9;
  EXPECT_FALSE(world.ask(kPlaces, kSyn).has_value());
  ++world.balancer().now.count;
  EXPECT_TRUE(world.ask(kPlaces, kSyn).has_value());
}

// In the modes in which nothing of a connection but its backend is needed, a packet goes there
// without one.
TEST(full_table, of_assured_connections_is_passed_by_where_backends_answer_themselves) {
  for (const Mode mode : {Mode::kL2dsr, Mode::kIpip, Mode::kGue}) {
    const Flood none = {"none", false, net::IpProtocol::kTcp, kSynOnly, mode, 1'000};
    FloodedBalancer world(none);
    for (uint32_t i = 0; i < none.places; ++i) world.assure(i);
    for (uint32_t i = 0; i < 100; ++i) {
      const std::optional<Client> client = world.ask(kPlaces + i, kSyn);
      ASSERT_TRUE(client);
      EXPECT_TRUE(world.stays(*client, kAck));
    }
    const Report report = world.balancer().report();
    EXPECT_EQ(report.flows.created, none.places);
    EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  }
}

// By counts its next packet would go elsewhere, so it goes nowhere.
TEST(full_table, of_assured_connections_refuses_those_whose_backend_follows_from_counts) {
  FloodedBalancer world(
      {"none", false, net::IpProtocol::kTcp, kSynOnly, Mode::kL2dsr, 1'000, "least_connections"});
  for (uint32_t i = 0; i < 1'000; ++i) world.assure(i);
  EXPECT_FALSE(world.ask(kPlaces, kSyn).has_value());
}

TEST(full_table, of_expired_connections_is_not_full) {
  FloodedBalancer world(kSyns);
  const auto cause = one_more_after(world, [&](uint32_t i) {
    world.ask(i, kSyn);
    if (i + 1 == kPlaces) world.balancer().now.count += 61;
  });
  EXPECT_EQ(cause, std::nullopt);
  const Report report = world.balancer().report();
  EXPECT_EQ(report.live, 1U);
  EXPECT_EQ(report.flows.expired, kPlaces);
  EXPECT_EQ(report.flows.evicted, 0U);
}

// One that begins anew on the ports of a closed one has to be assured anew.
TEST(full_table, of_connections_begun_anew_evicts_one) {
  FloodedBalancer world(kSyns);
  const auto cause = one_more_after(world, [&](uint32_t i) {
    const Client client = world.assure(i);
    ASSERT_TRUE(world.answer(client, kRst));
    ASSERT_TRUE(world.stays(client, kSyn));
  });
  EXPECT_EQ(cause, std::nullopt);
  EXPECT_EQ(world.balancer().report().flows.evicted, 1U);
}

// Ports whose connections want the same two buckets of a table with these keys. An attacker could
// find them too, knowing the hash seed.
template <class Value, class Policies, class KeyOf>
std::vector<uint16_t> colliding_ports(uint64_t capacity, KeyOf&& key_of) {
  using Table = FlowTable<net::FlowKey4, Value, Policies>;
  Table table = Table::create({.capacity = capacity, .hash_seed = 7}).value();
  const BucketMap map(table.capacity() / Table::kSlots);
  std::map<std::pair<BucketIndex, BucketIndex>, std::vector<uint16_t>> by_buckets;
  for (uint16_t port = 1; port != 0; ++port) {
    const net::FlowKey4 key = key_of(port);
    Hash64 hash{};
    table.hash_batch(std::span(&key, 1), std::span(&hash, 1));
    const BucketIndex primary = map.primary(hash);
    const BucketIndex secondary =
        FilteredProbing::secondary(map, primary, InlineLine<Table::kSlots>{}, tag_of(hash));
    by_buckets[std::minmax(primary, secondary)].push_back(port);
  }
  return std::ranges::max_element(by_buckets, {}, [](const auto& one) { return one.second.size(); })
      ->second;
}

// More than two buckets and the stash take; and the slots of tables for so many.
constexpr size_t kConnections = 60;
constexpr uint64_t kSlots = 2 * kConnections + 16;

// The tables promise their places to keys that are not chosen: these are refused earlier, and
// whole.
void expect_refusals(const std::vector<uint16_t>& ports) {
  TestBalancer balancer(test_config("connections = 4_096", "connections = 60"));
  uint64_t refused = 0;
  ASSERT_GE(ports.size(), kConnections);
  for (size_t i = 0; i < kConnections; ++i) {
    const Fate fate = balancer.send_from_client({.destination = "198.51.100.53",
                                                 .source_port = ports[i],
                                                 .destination_port = 53,
                                                 .protocol = net::IpProtocol::kUdp});
    ASSERT_TRUE(!fate.cause || fate.cause == DropCause::kTableFull);
    if (fate.cause) ++refused;
  }
  EXPECT_GT(refused, 0U);
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.created + refused, kConnections);
  EXPECT_EQ(report.live, report.flows.created);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

struct Timed : DefaultPolicies {
  using Expiry = SlotTimers;
};

TEST(full_table, of_chosen_client_keys_refuses_whole) {
  const auto client = net::IpAddress::parse("192.0.2.10").value().ipv4();
  const auto service = net::IpAddress::parse("198.51.100.53").value().ipv4();
  expect_refusals(colliding_ports<Connection, Timed>(kSlots, [&](uint16_t port) {
    return net::FlowKey4{client, service, port, 53, net::IpProtocol::kUdp, {}};
  }));
}

TEST(full_table, of_chosen_reply_keys_refuses_whole) {
  const auto client = net::IpAddress::parse("192.0.2.10").value().ipv4();
  const auto backend = net::IpAddress::parse("10.0.0.11").value().ipv4();
  expect_refusals(colliding_ports<uint32_t, DefaultPolicies>(kSlots, [&](uint16_t port) {
    return net::FlowKey4{backend, client, 53, port, net::IpProtocol::kUdp, {}};
  }));
}

}  // namespace
}  // namespace roost::lb
