// Each cause of a drop is reached, by a packet that differs in one thing from one that passes, and
// a dropped packet leaves nothing behind.
#include "apps/lb/datapath/drop_cause.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

struct Drop {
  DropCause cause;
  std::string toml;
  Arrival arrival;
};

Arrival tcp(const std::function<void(PacketSpec&)>& change) {
  PacketSpec spec;
  change(spec);
  return {make_frame(spec)};
}

// The plain SYN of IPv4, with some bytes changed: the IPv4 header starts at 14, TCP at 34.
Arrival bytes(const std::function<void(std::vector<uint8_t>&)>& change) {
  std::vector<uint8_t> frame = make_frame({});
  change(frame);
  return {frame};
}

// The same of IPv6, whose header starts at 14 and ends at 54, with an extension header put in.
Arrival with_extension(uint8_t next_header, const std::vector<uint8_t>& extensions) {
  PacketSpec spec;
  spec.source = "2001:db8:1::10";
  spec.destination = "2001:db8:ffff::80";
  std::vector<uint8_t> frame = make_frame(spec);
  frame[20] = next_header;
  frame[19] = static_cast<uint8_t>(frame[19] + extensions.size());
  frame.insert(frame.begin() + 54, extensions.begin(), extensions.end());
  return {frame};
}

Arrival source_routed() {
  return bytes([](std::vector<uint8_t>& frame) {
    const std::vector<uint8_t> option = {131, 7, 8, 192, 0, 2, 99, 0};
    frame.insert(frame.begin() + 34, option.begin(), option.end());
    frame[14] = 0x47;
    frame[17] = static_cast<uint8_t>(frame[17] + 8);
    fix_ipv4_checksum(frame);
  });
}

// A SYN with this payload and more to come.
Arrival first_fragment(const std::string& payload) {
  PacketSpec spec;
  spec.payload = payload;
  std::vector<uint8_t> frame = make_frame(spec);
  frame[20] = 0x20;
  fix_ipv4_checksum(frame);
  return {frame};
}

std::string all_weights_zero() {
  return test_config("{name = \"b1\", address = \"10.0.0.11\"}",
                     "{name = \"b1\", address = \"10.0.0.11\", weight = 0}");
}

Arrival udp4() { return {make_frame(dns_query())}; }

std::vector<Drop> header_drops() {
  using enum DropCause;
  const std::string plain = test_config();
  std::vector<uint8_t> nine_options;  // of destination, each the next one's announcement
  for (int i = 0; i < 9; ++i) {
    nine_options.insert(nine_options.end(), {uint8_t(i == 8 ? 6 : 60), 0, 1, 4, 0, 0, 0, 0});
  }
  return {{kTruncated, plain, bytes([](auto& frame) { frame.resize(30); })},
          {kSplitHeaders, plain, {make_frame({}), 0, 128, 40}},
          {kNotForUs, plain, tcp([](auto& spec) { spec.destination_mac = "02:00:00:00:00:77"; })},
          {kNotForUs, plain, tcp([](auto& spec) { spec.destination_mac = "ff:ff:ff:ff:ff:ff"; })},
          {kNotForUs, test_config("mac = \"02:00:00:00:00:01\"", "promiscuous = true"),
           tcp([](auto& spec) { spec.destination_mac = "01:00:5e:00:00:01"; })},
          {kWrongVlan, plain, tcp([](auto& spec) { spec.vlan = {100}; })},
          {kWrongVlan, plain, tcp([](auto& spec) {
             spec.vlan = {0, 0};
           })},
          {kWrongVlan,
           test_config("mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:01\"\nvlan = [100]"),
           tcp([](auto& spec) { spec.vlan = {0}; })},
          {kWrongVlan,
           test_config("mac = \"02:00:00:00:00:01\"", "mac = \"02:00:00:00:00:01\"\nvlan = [100]"),
           tcp([](auto&) {})},
          {kNotIp, plain, bytes([](auto& frame) { frame[13] = 9; })},
          {kBadNeighbourMessage, plain, bytes([](auto& frame) { frame[13] = 6; })},
          {kBadHeader, plain, bytes([](auto& frame) { frame[46] = 0x40; })},
          {kBadChecksum, plain, bytes([](auto& frame) { frame[25] ^= 1; })},
          {kBadFragment, plain, first_fragment("12345")},
          {kIpv4SourceRoute, plain, source_routed()},
          {kIpv6RoutingHeader, plain, with_extension(43, {6, 0, 0, 1, 0, 0, 0, 0})},
          {kTooManyExtensionHeaders, plain, with_extension(60, nine_options)},
          {kUnsupportedProtocol, plain, bytes([](auto& frame) {
             frame[23] = 1;
             fix_ipv4_checksum(frame);
           })},
          {kMartian, plain, tcp([](auto& spec) { spec.source = "127.0.0.1"; })},
          {kTtlExpired, plain, tcp([](auto& spec) { spec.ttl = 1; })},
          {kTtlExpired, plain, tcp([](auto& spec) { spec.ttl = 0; })},
          {kBadL4Checksum, plain + "[lb]\nverify_l4_checksum = true\n",
           bytes([](auto& frame) { frame.back() ^= 1; })}};
}

std::vector<Drop> forwarding_drops() {
  using enum DropCause;
  const std::string plain = test_config();
  return {
      {drop_cause::kNoService, plain, tcp([](auto& spec) { spec.destination_port = 81; })},
      {drop_cause::kNoService, plain, tcp([](auto& spec) { spec.destination = "198.51.100.53"; })},
      {kNoFlow, plain, tcp([](auto& spec) { spec.tcp_flags = net::tcp::kRst; })},
      {kNoFlow, plain, tcp([](auto& spec) {
         spec.source = "10.0.0.11";
         spec.destination = "192.0.2.10";
       })},
      {drop_cause::kNoBackend, all_weights_zero(), udp4()},
      {kNoNeighbour, plain, tcp([](auto& spec) { spec.source = "203.0.113.99"; })},
      {kTooBig, plain, tcp([](auto& spec) { spec.payload.assign(1500 - 40 + 1, 'x'); })},
      {kNoHeadroom,
       test_config("mac = \"02:00:00:00:00:02\"", "mac = \"02:00:00:00:00:02\"\nvlan = [200, 7]"),
       {make_frame({}), 0, 7, {}}}};
}

void expect_drop(const Drop& drop) {
  SCOPED_TRACE(drop_cause_name(drop.cause));
  TestBalancer balancer(drop.toml);
  const Fate fate = balancer.send(drop.arrival);
  ASSERT_TRUE(fate.cause.has_value()) << "it was forwarded";
  EXPECT_EQ(drop_cause_name(*fate.cause), drop_cause_name(drop.cause));
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.created, 0U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST(drop_cause, each_cause_of_a_header_is_reached) {
  for (const Drop& drop : header_drops()) expect_drop(drop);
}

TEST(drop_cause, each_cause_of_forwarding_is_reached) {
  for (const Drop& drop : forwarding_drops()) expect_drop(drop);
}

TEST(drop_cause, the_packets_next_to_the_dropped_ones_pass) {
  EXPECT_EQ(TestBalancer().send_from_client({.ttl = 2}).cause, std::nullopt);
  EXPECT_EQ(TestBalancer().send_from_client({.payload = std::string(1500 - 40, 'x')}).cause,
            std::nullopt);
  EXPECT_EQ(
      TestBalancer(test_config() + "[lb]\nverify_l4_checksum = true\n").send_from_client({}).cause,
      std::nullopt);
  EXPECT_EQ(TestBalancer(test_config("mac = \"02:00:00:00:00:01\"", "promiscuous = true"))
                .send_from_client({.destination_mac = "02:99:00:00:00:77"})
                .cause,
            std::nullopt);
  EXPECT_EQ(TestBalancer(test_config("mac = \"02:00:00:00:00:02\"",
                                     "mac = \"02:00:00:00:00:02\"\nvlan = [200, 7]"))
                .send({make_frame({}), 0, 8, {}})
                .cause,
            std::nullopt);
}

// Two services share a backend: from one client and port, both have the same reply tuple.
std::string shared_backend() {
  return test_config() + R"([[service]]
name = "dns2"
address = "198.51.100.54"
port = 53
protocol = "udp"
backends = [{name = "b1", address = "10.0.0.11"}]
)";
}

PacketSpec query(const std::string& service) { return udp("192.0.2.10", 40'000, service, 53); }

PacketSpec answer() {
  PacketSpec spec = query("192.0.2.10");
  spec.destination_mac = "02:00:00:00:00:02";
  spec.source = "10.0.0.11";
  spec.source_port = 53;
  spec.destination_port = 40'000;
  return spec;
}

TEST(reply_tuple, stays_with_its_live_owner) {
  TestBalancer balancer(shared_backend());
  EXPECT_EQ(balancer.send_from_client(query("198.51.100.53")).cause, std::nullopt);
  EXPECT_EQ(balancer.send_from_client(query("198.51.100.54")).cause, DropCause::kReplyTupleTaken);
  const Fate back = balancer.send_from_backend(answer());
  ASSERT_EQ(back.cause, std::nullopt);
  EXPECT_EQ(back.frame[29], 53) << "it must come from the first service";
  EXPECT_EQ(balancer.report().flows.created, 1U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST(reply_tuple, is_taken_over_from_an_expired_owner) {
  TestBalancer balancer(shared_backend());
  EXPECT_EQ(balancer.send_from_client(query("198.51.100.53")).cause, std::nullopt);
  balancer.now.count += 62;
  EXPECT_EQ(balancer.send_from_client(query("198.51.100.54")).cause, std::nullopt);
  Fate back = balancer.send_from_backend(answer());
  ASSERT_EQ(back.cause, std::nullopt);
  EXPECT_EQ(back.frame[29], 54) << "it must come from the second service";
  // The sweep that reclaims the first connection must not touch the second one's reply entry.
  balancer.state().tracker().settle();
  EXPECT_EQ(balancer.send_from_backend(answer()).cause, std::nullopt);
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.created, 2U);
  EXPECT_EQ(report.flows.expired, 1U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST(table_full, drops_new_connections_and_leaves_the_others_whole) {
  for (int seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    TestBalancer balancer(test_config("connections = 4_096\nhash_seed = 7",
                                      "connections = 16\nhash_seed = " + std::to_string(seed)));
    std::vector<PacketSpec> served;
    for (uint16_t port = 1; port <= 500; ++port) {
      PacketSpec spec = query("198.51.100.53");
      spec.source_port = port;
      const Fate fate = balancer.send_from_client(spec);
      if (fate.cause) {
        EXPECT_EQ(*fate.cause, DropCause::kTableFull);
        continue;
      }
      PacketSpec back = answer();
      back.destination_port = port;
      EXPECT_EQ(balancer.send_from_backend(back).cause, std::nullopt);
      for (int more = 0; more < 3; ++more) {
        EXPECT_EQ(balancer.send_from_client(spec).cause, std::nullopt);
      }
      served.push_back(spec);
    }
    EXPECT_EQ(served.size(), 16U) << "as many as configured fit";
    for (const PacketSpec& spec : served) {
      PacketSpec back = answer();
      back.destination_port = spec.source_port;
      EXPECT_EQ(balancer.send_from_client(spec).cause, std::nullopt);
      EXPECT_EQ(balancer.send_from_backend(back).cause, std::nullopt);
    }
    const Report report = balancer.report();
    EXPECT_EQ(report.flows.created, served.size());
    EXPECT_EQ(report.live, served.size());
    EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  }
}

TEST(drop_cause, names_are_different) {
  std::set<std::string_view> names;
  for (const net::DropCauseInfo& info : kDropCauses) names.insert(info.name);
  EXPECT_EQ(names.size(), kDropCauses.size());
}

}  // namespace
}  // namespace roost::lb
