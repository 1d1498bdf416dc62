// Floods of packets from invented addresses, ten times as many as there are places, with all places
// taken: confirmed connections live through them, and real clients still get in.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "roost/hash/bucket_map.h"
#include "roost/table/flow_table.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kFin;
using net::tcp::kRst;
using net::tcp::kSyn;

constexpr uint64_t kPlaces = 20'000;

std::string flood_config() {
  std::string toml = test_config("connections = 4_096", "connections = 20_000");
  const std::string_view first_mac = "mac = \"02:00:00:00:00:01\"\n";
  toml.insert(toml.find(first_mac), "default_neighbour_mac = \"02:00:00:00:01:01\"\n");
  return toml;
}

struct Client {
  uint32_t number = 0;
  std::string backend{};  // the address that its packets went to
};

// What a flood is made of: the packets of each invented client, in order.
struct Flood {
  const char* name;
  bool is_ipv6;
  net::IpProtocol protocol;
  std::vector<uint8_t> flags;
};

class FloodedBalancer {
 public:
  explicit FloodedBalancer(const Flood& flood) : flood_(flood), balancer_(flood_config()) {}

  // A client's packet; real clients and invented ones have different addresses.
  PacketSpec from(uint32_t number, bool is_real, uint8_t flags) const {
    const bool is_tcp = flood_.protocol == net::IpProtocol::kTcp;
    const uint32_t host = number / 50'000;
    PacketSpec spec{.protocol = flood_.protocol, .tcp_flags = flags, .payload = ""};
    spec.source = (flood_.is_ipv6 ? is_real ? "2001:db8:1:1::" : "2001:db8:1:2::"
                   : is_real      ? "192.0.4."
                                  : "192.0.5.") +
                  std::to_string(host + 1);
    spec.destination = flood_.is_ipv6 ? is_tcp ? "2001:db8:ffff::80" : "2001:db8:ffff::53"
                       : is_tcp       ? "198.51.100.80"
                                      : "198.51.100.53";
    spec.source_port = static_cast<uint16_t>(number % 50'000 + 1'024);
    spec.destination_port = is_tcp ? 80 : 53;
    return spec;
  }

  // A real client's packet; where it went, or nothing.
  std::string ask(uint32_t number, uint8_t flags) {
    const Fate fate = balancer_.send_from_client(from(number, true, flags));
    return fate.cause ? std::string() : destination_of(fate);
  }
  // The backend's answer to a real client; whether it went through.
  bool answer(const Client& client, uint8_t flags) {
    PacketSpec spec = from(client.number, true, flags);
    spec.destination_mac = "02:00:00:00:00:02";
    spec.destination = spec.source;
    spec.source = client.backend;
    spec.destination_port = spec.source_port;
    spec.source_port = flood_.protocol == net::IpProtocol::kTcp ? 8080 : 53;
    return !balancer_.send_from_backend(spec).cause;
  }
  // A whole handshake.
  Client confirm(uint32_t number) {
    Client client{number, ask(number, kSyn)};
    EXPECT_TRUE(answer(client, kSyn | kAck));
    EXPECT_EQ(ask(number, kAck), client.backend);
    return client;
  }
  // The next invented client, with all its packets; what became of the first one.
  std::optional<DropCause> flood_once() {
    std::optional<DropCause> cause;
    for (size_t i = 0; i < flood_.flags.size(); ++i) {
      const Fate fate = balancer_.send_from_client(from(invented_, false, flood_.flags[i]));
      if (i == 0) cause = fate.cause;
    }
    ++invented_;
    return cause;
  }

  TestBalancer& balancer() { return balancer_; }

 private:
  Flood flood_;
  TestBalancer balancer_;
  uint32_t invented_ = 0;
};

class flood : public testing::TestWithParam<Flood> {};

// Four of five places are confirmed, which leaves 4,000, and in the end half of those; with every
// 100th client of the flood a real one begins, gets its answer 500 clients later, and speaks again
// 500 later.
TEST_P(flood, evicts_itself_and_lets_real_clients_in) {
  FloodedBalancer world(GetParam());
  std::vector<Client> confirmed;
  for (uint32_t i = 0; i < kPlaces * 4 / 5; ++i) confirmed.push_back(world.confirm(i));

  std::mt19937_64 random(1);
  std::deque<Client> asking;
  std::deque<Client> answered;
  uint32_t began = 0;
  uint32_t arrived = 0;
  uint64_t refused = 0;
  for (uint32_t packet = 0; packet < 10 * kPlaces; ++packet) {
    const auto cause = world.flood_once();
    ASSERT_TRUE(!cause || cause == DropCause::kTableFull);
    if (cause) ++refused;
    const Client& old = confirmed[random() % confirmed.size()];
    if (packet % 10 == 0) {
      // First the backend: a client's packet would begin an evicted connection anew.
      ASSERT_TRUE(world.answer(old, kAck));
      ASSERT_EQ(world.ask(old.number, kAck), old.backend);
    }
    if (packet % 100 != 0) continue;
    const auto number = static_cast<uint32_t>(kPlaces + began++);
    const Client client{number, world.ask(number, kSyn)};
    if (!client.backend.empty()) asking.push_back(client);
    if (asking.size() > 5) {
      if (world.answer(asking.front(), kSyn | kAck)) answered.push_back(asking.front());
      asking.pop_front();
    }
    if (answered.size() > 5) {
      const Client& ready = answered.front();
      if (world.ask(ready.number, kAck) == ready.backend && world.answer(ready, kAck)) ++arrived;
      answered.pop_front();
    }
  }
  for (const Client& client : confirmed) {
    ASSERT_TRUE(world.answer(client, kAck));
    ASSERT_EQ(world.ask(client.number, kAck), client.backend);
  }
  const Report report = world.balancer().report();
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  EXPECT_EQ(report.live, kPlaces) << "all places taken, and none twice";
  EXPECT_EQ(report.flows.expired + report.flows.ended + report.flows.deleted, 0U);
  EXPECT_GE(report.flows.evicted, 9 * kPlaces);
  EXPECT_LE(refused, 10 * kPlaces / 1'000);
  EXPECT_GE(arrived, began * 19 / 20);
}

INSTANTIATE_TEST_SUITE_P(
    , flood,
    testing::Values(Flood{"of_syns", false, net::IpProtocol::kTcp, {kSyn}},
                    Flood{"of_syns_ipv6", true, net::IpProtocol::kTcp, {kSyn}},
                    Flood{"of_acks", false, net::IpProtocol::kTcp, {kAck}},
                    Flood{"of_syns_with_acks", false, net::IpProtocol::kTcp, {kSyn, kAck, kFin}},
                    Flood{"of_datagrams", false, net::IpProtocol::kUdp, {0, 0}}),
    [](const auto& one) { return one.param.name; });

// Fills all places by `begin`, and says what becomes of one more.
template <class Begin>
std::optional<DropCause> one_more_after(FloodedBalancer& world, Begin&& begin) {
  for (uint32_t i = 0; i < kPlaces; ++i) begin(i);
  return world.balancer().send_from_client(world.from(kPlaces, true, kSyn)).cause;
}

const Flood kSyns = {"of_syns", false, net::IpProtocol::kTcp, {kSyn}};

TEST(full_table, of_confirmed_connections_refuses) {
  FloodedBalancer world(kSyns);
  const auto cause = one_more_after(world, [&](uint32_t i) { world.confirm(i); });
  EXPECT_EQ(cause, DropCause::kTableFull);
  const Report report = world.balancer().report();
  EXPECT_EQ(report.live, kPlaces);
  EXPECT_EQ(report.flows.evicted, 0U);
}

TEST(full_table, of_closed_connections_ends_one) {
  FloodedBalancer world(kSyns);
  const auto cause = one_more_after(world, [&](uint32_t i) {
    const Client client = world.confirm(i);
    ASSERT_TRUE(world.answer(client, kRst));
  });
  EXPECT_EQ(cause, std::nullopt);
  const Report report = world.balancer().report();
  EXPECT_EQ(report.flows.ended, 1U);
  EXPECT_EQ(report.flows.evicted, 0U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
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

// One that begins anew on the ports of a closed one has to be confirmed anew.
TEST(full_table, of_connections_begun_anew_evicts_one) {
  FloodedBalancer world(kSyns);
  const auto cause = one_more_after(world, [&](uint32_t i) {
    const Client client = world.confirm(i);
    ASSERT_TRUE(world.answer(client, kRst));
    ASSERT_EQ(world.ask(i, kSyn), client.backend);
  });
  EXPECT_EQ(cause, std::nullopt);
  EXPECT_EQ(world.balancer().report().flows.evicted, 1U);
}

// Ports whose connections want the same two buckets of a table with these keys. An attacker could
// find them too, if he knew the hash seed.
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
    by_buckets[std::minmax(primary, map.other(primary, tag_of(hash)))].push_back(port);
  }
  return std::ranges::max_element(by_buckets, {}, [](const auto& one) { return one.second.size(); })
      ->second;
}

// The tables promise their places to keys that nobody chose: these are refused earlier, and whole.
void expect_refusals(const std::vector<uint16_t>& ports) {
  TestBalancer balancer(test_config("connections = 4_096", "connections = 40"));
  uint64_t refused = 0;
  ASSERT_GE(ports.size(), 40U);
  for (size_t i = 0; i < 40; ++i) {
    const Fate fate = balancer.send_from_client({.destination = "198.51.100.53",
                                                 .source_port = ports[i],
                                                 .destination_port = 53,
                                                 .protocol = net::IpProtocol::kUdp});
    ASSERT_TRUE(!fate.cause || fate.cause == DropCause::kTableFull);
    if (fate.cause) ++refused;
  }
  EXPECT_GT(refused, 0U);
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.made + refused, 40U);
  EXPECT_EQ(report.live, report.flows.made);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

constexpr uint64_t kSlotsForForty = 96;

struct Timed : DefaultPolicies {
  using Expiry = SlotTimers;
};

TEST(full_table, of_chosen_client_keys_refuses_whole) {
  const auto client = net::IpAddress::parse("192.0.2.10").value().ipv4();
  const auto service = net::IpAddress::parse("198.51.100.53").value().ipv4();
  expect_refusals(colliding_ports<Connection, Timed>(kSlotsForForty, [&](uint16_t port) {
    return net::FlowKey4{client, service, port, 53, net::IpProtocol::kUdp, {}};
  }));
}

TEST(full_table, of_chosen_reply_keys_refuses_whole) {
  const auto client = net::IpAddress::parse("192.0.2.10").value().ipv4();
  const auto backend = net::IpAddress::parse("10.0.0.11").value().ipv4();
  expect_refusals(colliding_ports<uint32_t, DefaultPolicies>(kSlotsForForty, [&](uint16_t port) {
    return net::FlowKey4{backend, client, 53, port, net::IpProtocol::kUdp, {}};
  }));
}

TEST(contact, is_confirmed_by_both_ends_only) {
  using enum Contact;
  EXPECT_EQ(next_contact(kAsked, Sender::kClient, kAck), kAsked);
  EXPECT_EQ(next_contact(kAsked, Sender::kBackend, kSyn | kAck), kAnswered);
  EXPECT_EQ(next_contact(kAsked, Sender::kBackend, kRst | kAck), kAsked);
  EXPECT_EQ(next_contact(kAnswered, Sender::kBackend, kAck), kAnswered);
  EXPECT_EQ(next_contact(kAnswered, Sender::kClient, kSyn), kAnswered);
  EXPECT_EQ(next_contact(kAnswered, Sender::kClient, kRst), kAnswered);
  EXPECT_EQ(next_contact(kAnswered, Sender::kClient, kAck), kConfirmed);
  EXPECT_EQ(next_contact(kConfirmed, Sender::kBackend, kRst), kConfirmed);
}

}  // namespace
}  // namespace roost::lb
