// IPv6 clients before IPv4 backends: every packet byte by byte, and what of a service works
// as before (docs/decisions/0038-ipv6-in-front.md).
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/lb/proxy_talk.h"
#include "tests/lb/test_nat64.h"

namespace roost::lb {
namespace {

class Nat64 : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_TRUE(balancer_.state().audit());
    EXPECT_EQ(broken_sums(balancer_.report()), no_faults());
  }

  // The client's first packet; what its backend sees.
  Ends begin(const PacketSpec& spec) { return ends_of(balancer_.send_from_client(spec)); }

  TestBalancer balancer_{nat64_config()};
};

TEST_F(Nat64, a_connection_is_one_of_each_version) {
  const PacketSpec syn = from_client(kNat64, 40'000);
  const Fate fate = balancer_.send_from_client(syn);
  const Ends ends = ends_of(fate);
  EXPECT_EQ(fate.out_port, 1);
  EXPECT_EQ(ends.source, kNat64.local);
  EXPECT_EQ(ends.destination_port, 8'080);
  EXPECT_EQ(fate.frame, as_ipv4_backend_gets(syn, ends, 0));
  const PacketSpec answer = answer_to(kNat64, ends, net::tcp::kSyn | net::tcp::kAck);
  const Fate back = balancer_.send_from_backend(answer);
  ASSERT_EQ(back.cause, std::nullopt);
  EXPECT_EQ(back.out_port, 0);
  EXPECT_EQ(back.frame, as_ipv6_client_gets(answer, syn));
  for (uint16_t n = 1; n < 4; ++n) {
    PacketSpec data = from_client(kNat64, 40'000, net::tcp::kAck);
    data.payload.assign(size_t{100} * n + n, 'd');
    const Fate next = balancer_.send_from_client(data);
    ASSERT_EQ(next.cause, std::nullopt);
    EXPECT_EQ(next.frame, as_ipv4_backend_gets(data, ends, n)) << "with its own identification";
    PacketSpec more = answer_to(kNat64, ends, net::tcp::kAck);
    more.payload = data.payload;
    EXPECT_EQ(balancer_.send_from_backend(more).frame, as_ipv6_client_gets(more, syn));
  }
  EXPECT_EQ(balancer_.report().flows.created, 1U);
}

TEST_F(Nat64, traffic_class_and_hops_go_along) {
  Bytes frame = make_frame(from_client(kNat64, 40'000));
  frame[14] = 0x6b;  // class 0xb9, flow label 0x12345
  frame[15] = 0x91;
  set16(frame, 16, 0x2345);
  frame[21] = 17;
  const Fate fate = balancer_.send({frame, 0, 128, {}});
  const Ends ends = ends_of(fate);
  EXPECT_EQ(fate.frame[15], 0xb9);
  EXPECT_EQ(fate.frame[22], 16);
  Bytes answer = make_frame(answer_to(kNat64, ends, net::tcp::kSyn | net::tcp::kAck));
  answer[15] = 0x2e;
  answer[22] = 9;
  fix_ipv4_checksum(answer);
  const Fate back = balancer_.send({answer, 1, 128, {}});
  ASSERT_EQ(back.cause, std::nullopt);
  EXPECT_EQ(Bytes(back.frame.begin() + 14, back.frame.begin() + 18), (Bytes{0x62, 0xe0, 0, 0}));
  EXPECT_EQ(back.frame[21], 8);
}

TEST_F(Nat64, datagrams_have_a_checksum_whether_their_backend_makes_one_or_not) {
  const PacketSpec question = client_sends_udp("a question");
  const Fate fate = balancer_.send_from_client(question);
  const Ends ends = ends_of(fate);
  EXPECT_EQ(fate.frame, as_ipv4_backend_gets(question, ends, 0));
  for (const bool has_checksum : {true, false}) {
    for (const std::string payload : {"", "odd", "even"}) {
      PacketSpec answer = ipv4_answer(ends, question, payload);
      answer.has_udp_checksum = has_checksum;
      const Fate back = balancer_.send_from_backend(answer);
      ASSERT_EQ(back.cause, std::nullopt);
      EXPECT_EQ(back.frame, as_ipv6_client_gets(answer, question));
    }
  }
}

TEST_F(Nat64, a_backend_of_services_of_both_versions_has_an_address_of_ours_for_each) {
  std::set<Ends> seen;
  for (uint16_t port = 1; port <= 200; ++port) {
    const Ends six = begin(from_client(kNat64, port));
    const Ends four = begin(from_client(kFullnat4, port));
    EXPECT_EQ(six.source, kNat64.local);
    EXPECT_EQ(four.source, kFullnat4.local);
    seen.insert(six);
    seen.insert(four);
    EXPECT_EQ(ends_of(balancer_.send_from_backend(answer_to(kNat64, six, net::tcp::kAck))),
              (Ends{kNat64.virtual_address, kNat64.client, 80, port}));
    EXPECT_EQ(ends_of(balancer_.send_from_backend(answer_to(kFullnat4, four, net::tcp::kAck))),
              (Ends{kFullnat4.virtual_address, kFullnat4.client, 80, port}));
  }
  EXPECT_EQ(seen.size(), 400U);
}

TEST_F(Nat64, what_is_no_answer_is_dropped_by_cause) {
  const Ends ends = begin(from_client(kNat64, 40'000));
  const PacketSpec answer = answer_to(kNat64, ends, net::tcp::kAck);
  EXPECT_EQ(balancer_.send({make_frame(answer), 0, 128, {}}).cause, DropCause::kNotForUs);
  PacketSpec by_clients_side = answer;
  by_clients_side.destination_mac = "02:00:00:00:00:01";
  EXPECT_EQ(balancer_.send({make_frame(by_clients_side), 0, 128, {}}).cause,
            drop_cause::kWrongSide);
  PacketSpec of_none = answer;
  of_none.destination_port = static_cast<uint16_t>(ends.source_port ^ 1);
  EXPECT_EQ(balancer_.send_from_backend(of_none).cause, DropCause::kNoFlow);
  PacketSpec of_stranger = answer;
  of_stranger.source = "10.0.0.77";
  EXPECT_EQ(balancer_.send_from_backend(of_stranger).cause, drop_cause::kNoService);
  PacketSpec to_others_address = answer;
  to_others_address.destination = "10.0.0.100";
  EXPECT_EQ(balancer_.send_from_backend(to_others_address).cause, DropCause::kNoFlow);
}

TEST_F(Nat64, packets_need_room_for_the_longer_header) {
  const Ends ends = begin(from_client(kNat64, 40'000));
  const Bytes answer = make_frame(answer_to(kNat64, ends, net::tcp::kAck));
  EXPECT_EQ(balancer_.send({answer, 1, 19, {}}).cause, DropCause::kNoHeadroom);
  EXPECT_EQ(balancer_.send({answer, 1, 20, {}}).cause, std::nullopt);
  PacketSpec tagged = answer_to(kNat64, ends, net::tcp::kAck);
  tagged.vlan = {0};  // a priority only, and four bytes that are free later
  EXPECT_EQ(balancer_.send({make_frame(tagged), 1, 19, {}}).cause, DropCause::kNoHeadroom);
  EXPECT_EQ(balancer_.send({make_frame(tagged), 1, 20, {}}).cause, std::nullopt);
  // Only headers are in the first segment.
  EXPECT_EQ(balancer_.send({answer, 1, 20, 54}).cause, std::nullopt);
  EXPECT_EQ(
      balancer_.send({make_frame(from_client(kNat64, 40'000, net::tcp::kAck)), 0, 0, 74}).cause,
      std::nullopt);
}

// RFC 7915 says how, or does not.
TEST_F(Nat64, what_has_no_counterpart_is_dropped_and_counted) {
  const PacketSpec question = client_sends_udp();
  const Ends ends = begin(question);
  Bytes authenticated = make_frame(question);
  authenticated[20] = 51;
  const Bytes header = {17, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  authenticated.insert(authenticated.begin() + 54, header.begin(), header.end());
  set16(authenticated, 18, authenticated.size() - 54);
  EXPECT_EQ(balancer_.send({authenticated, 0, 128, {}}).cause, drop_cause::kUntranslatable);
  PacketSpec split = ipv4_answer(ends, question, "a payload in another segment");
  split.has_udp_checksum = false;
  EXPECT_EQ(balancer_.send({make_frame(split), 1, 128, 50}).cause, drop_cause::kUntranslatable)
      << "whose checksum cannot be made";
  EXPECT_EQ(balancer_.totals().drops[drop_cause::kUntranslatable], 2U);
}

TEST(nat64, ports_are_bound_as_ever) {
  constexpr size_t kPorts = 50;
  TestBalancer balancer(nat64_config("\"10.0.0.200\", \"10.0.0.201\"", "[2000, 2024]"));
  std::map<Ends, uint16_t> clients;
  size_t refused = 0;
  for (uint16_t port = 1; port <= 500; ++port) {
    const std::optional<Ends> ends = assure(balancer, kNat64, port);
    if (!ends) {
      ++refused;
    } else {
      EXPECT_TRUE(clients.emplace(*ends, port).second) << "one local port for two connections";
    }
  }
  EXPECT_EQ(clients.size(), kPorts * kNat64.backend_macs.size());
  EXPECT_EQ(balancer.totals().drops[DropCause::kNoLocalPort], refused);
  std::set<std::string> addresses;
  for (const auto& [ends, port] : clients) {
    addresses.insert(ends.source);
    EXPECT_EQ(ends_of(balancer.send_from_backend(answer_to(kNat64, ends, net::tcp::kAck))),
              (Ends{kNat64.virtual_address, kNat64.client, 80, port}));
  }
  EXPECT_EQ(addresses, (std::set<std::string>{"10.0.0.200", "10.0.0.201"}));
  const auto [ends, port] = *clients.begin();
  end_connection(balancer, kNat64, port);
  std::set<Ends> created;
  for (uint16_t next = 3'000; next < 3'500; ++next) {
    if (const auto its = assure(balancer, kNat64, next)) created.insert(*its);
  }
  EXPECT_EQ(created, std::set<Ends>{ends});
  EXPECT_TRUE(balancer.state().audit());
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

std::string mixed_config(const std::string& of_ipv4) {
  std::string toml = nat64_config();
  const std::string four =
      "{name = \"b2\", address = \"10.0.0.12\", port = 8080},\n]\n[[service]]\nname = \"dns\"";
  const size_t at = toml.find(four);
  EXPECT_NE(at, std::string::npos);
  toml.insert(at, "{name = \"six\", address = \"2001:db8:2::11\", port = 8080},\n");
  const std::string first = "{name = \"b1\", address = \"10.0.0.11\", port = 8080";
  toml.insert(toml.rfind(first) + first.size(), of_ipv4);
  const std::string addresses = "addresses = [\"10.0.0.100\"";
  toml.insert(toml.find(addresses) + addresses.size(), ", \"2001:db8:2::100\"");
  return toml;
}

// Servers that move to IPv6 one by one.
TEST(nat64, a_service_may_have_backends_of_both_versions) {
  TestBalancer balancer(mixed_config(""));
  std::map<std::string, size_t> of_backend;
  for (uint16_t port = 1; port <= 600; ++port) {
    const Ends ends = ends_of(balancer.send_from_client(from_client(kNat64, port)));
    ++of_backend[ends.destination];
    const bool is_six = ends.destination == "2001:db8:2::11";
    EXPECT_EQ(ends.source, is_six ? "2001:db8:2::100" : kNat64.local);
    const Ends back = ends_of(balancer.send_from_backend(
        answer_to(is_six ? kFullnat6 : kNat64, ends, net::tcp::kSyn | net::tcp::kAck)));
    EXPECT_EQ(back, (Ends{kNat64.virtual_address, kNat64.client, 80, port}));
  }
  ASSERT_EQ(of_backend.size(), 3U);
  for (const auto& [backend, count] : of_backend) EXPECT_NEAR(static_cast<double>(count), 200, 60);
  EXPECT_TRUE(balancer.state().audit());
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

TEST(nat64, a_fallback_may_be_of_the_other_version) {
  TestBalancer balancer(mixed_config(", fallback = true"));
  for (uint16_t port = 1; port <= 100; ++port) {
    EXPECT_NE(ends_of(balancer.send_from_client(from_client(kNat64, port))).destination,
              "10.0.0.11");
  }
}

TEST(nat64, a_backend_is_told_the_ipv6_client) {
  std::string toml = nat64_config();
  const std::string name = "name = \"web6\"\n";
  toml.insert(toml.find(name) + name.size(), "proxy_protocol = true\n");
  TestBalancer balancer(toml);
  const PacketSpec syn{[] {
    PacketSpec spec = from_client(kNat64, 40'000);
    spec.payload.clear();
    spec.sequence = 999;
    return spec;
  }()};
  const Ends ends = ends_of(balancer.send_from_client(syn));
  PacketSpec answer = answer_to(kNat64, ends, net::tcp::kSyn | net::tcp::kAck);
  answer.payload.clear();
  answer.acknowledgement = 1'000;
  ASSERT_EQ(balancer.send_from_backend(answer).cause, std::nullopt);
  PacketSpec data = from_client(kNat64, 40'000, net::tcp::kAck);
  data.sequence = 1'000;
  data.payload = "hello";
  PacketSpec expected = data;
  expected.payload = proxy_header_of(kNat64, {}) + "hello";
  EXPECT_EQ(balancer.send({make_frame(data), 0, 51, {}}).cause, DropCause::kNoHeadroom);
  for (uint16_t n = 1; n < 3; ++n) {
    const Fate fate = balancer.send({make_frame(data), 0, 52, {}});
    ASSERT_EQ(fate.cause, std::nullopt);
    EXPECT_EQ(fate.frame, as_ipv4_backend_gets(expected, ends, n));
  }
  answer = answer_to(kNat64, ends, net::tcp::kAck);
  answer.acknowledgement = 1'000 + 52 + 5;
  PacketSpec received = answer;
  received.acknowledgement = 1'005;
  EXPECT_EQ(balancer.send_from_backend(answer).frame, as_ipv6_client_gets(received, syn));
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

}  // namespace
}  // namespace roost::lb
