// What the NAT makes of ICMP: echo, errors in both directions and by a hairpin, and what it
// says itself.
#include "tests/nat/test_nat.h"

namespace roost::nat {
namespace {

using lb::PacketSpec;
using lb::udp;
using net::DropCause;

constexpr const char* kExternalEnd = "192.0.2.100";

TEST_F(NatTest, icmp_errors_find_their_host_with_what_it_sent) {
  make(nat_toml());
  const Sent sent = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53));
  lb::IcmpSpec spec{.source_mac = "02:00:00:00:02:fe",
                    .destination_mac = "02:00:00:00:00:02",
                    .source = "203.0.113.7",
                    .destination = kExternalEnd};
  const Sent error = send(lb::make_icmp_error(spec, sent.frame, 28), 1);
  ASSERT_TRUE(error.verdict.is_forward());
  EXPECT_EQ(error.source(), "203.0.113.7");
  EXPECT_EQ(error.destination(), "10.0.0.10");
  EXPECT_EQ(error.address(14 + 20 + 8 + 12), "10.0.0.10");
  EXPECT_EQ(error.word(14 + 20 + 8 + 20), 5'000);
  // About a packet that nobody sent.
  Frame forged = sent.frame;
  forged[34] ^= 1U;
  EXPECT_EQ(send(lb::make_icmp_error(spec, forged, 28), 1).cause(), DropCause::kIcmpNoFlow);
  // For another address than its packet came from.
  spec.destination = "192.0.2.100";
  Frame of_other = lb::make_frame(udp("198.51.100.3", 1, "198.51.100.1", 53));
  EXPECT_EQ(send(lb::make_icmp_error(spec, of_other, 28), 1).cause(), DropCause::kBadIcmp);
}

TEST_F(NatTest, icmp_errors_change_nothing_of_their_connection) {
  make(nat_toml());
  const Sent sent = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53));
  pass_seconds(290);
  const lb::IcmpSpec spec{.source_mac = "02:00:00:00:02:fe",
                          .destination_mac = "02:00:00:00:00:02",
                          .source = "198.51.100.1",
                          .destination = kExternalEnd};
  EXPECT_TRUE(send(lb::make_icmp_error(spec, sent.frame, 28), 1).verdict.is_forward());
  EXPECT_EQ(states_[0]->held().mappings.live_count(), 1U);
  pass_seconds(20);
  EXPECT_EQ(states_[0]->held().mappings.live_count(), 0U);
}

// An inside router or host says it; the remote end sees the external address only.
TEST_F(NatTest, icmp_errors_from_inside_come_from_the_external_address) {
  make(nat_toml());
  const uint16_t port = from_inside(udp("10.0.0.10", 5'000, "198.51.100.1", 53)).source_port();
  const Sent in = from_outside(udp("198.51.100.1", 53, kExternalEnd, port));
  const lb::IcmpSpec spec{.source = "10.0.0.10", .destination = "198.51.100.1", .code = 3};
  const Sent error = send(lb::make_icmp_error(spec, in.frame, 28), 0);
  ASSERT_TRUE(error.verdict.is_forward());
  EXPECT_EQ(error.source(), kExternalEnd);
  EXPECT_EQ(error.address(14 + 20 + 8 + 16), kExternalEnd);
  EXPECT_EQ(error.word(14 + 20 + 8 + 22), port);
}

TEST_F(NatTest, icmp_errors_about_hairpinned_packets_go_back_the_same_way) {
  make(nat_toml());
  const uint16_t port = from_inside(udp("10.0.0.11", 6'000, "198.51.100.1", 53)).source_port();
  const Sent sent = from_inside(udp("10.0.0.10", 5'000, kExternalEnd, port));
  const lb::IcmpSpec spec{.source = "10.0.0.11", .destination = kExternalEnd, .code = 3};
  const Sent error = send(lb::make_icmp_error(spec, sent.frame, 28), 0);
  ASSERT_TRUE(error.verdict.is_forward());
  EXPECT_EQ(error.source(), kExternalEnd);
  EXPECT_EQ(error.destination(), "10.0.0.10");
  EXPECT_EQ(error.address(14 + 20 + 8 + 12), "10.0.0.10");
  EXPECT_EQ(error.word(14 + 20 + 8 + 20), 5'000);
  EXPECT_EQ(error.address(14 + 20 + 8 + 16), kExternalEnd);
  EXPECT_EQ(error.word(14 + 20 + 8 + 22), port);
}

Frame echo(const std::string& source, const std::string& destination, uint8_t type,
           uint16_t identifier) {
  Frame frame = lb::make_frame(udp(source, identifier, destination, 0));
  frame[23] = 1;
  frame[34] = type;
  frame[35] = 0;
  frame[38] = static_cast<uint8_t>(identifier >> 8);
  frame[39] = static_cast<uint8_t>(identifier & 0xff);
  frame[36] = frame[37] = 0;
  const uint16_t sum = lb::checksum_from_scratch(std::span(frame).subspan(34));
  frame[36] = static_cast<uint8_t>(sum >> 8);
  frame[37] = static_cast<uint8_t>(sum & 0xff);
  lb::fix_ipv4_checksum(frame);
  return frame;
}

TEST_F(NatTest, echo_is_translated_by_its_identifier) {
  make(nat_toml());
  const Sent sent = send(echo("10.0.0.10", "198.51.100.1", 8, 77), 0);
  ASSERT_TRUE(sent.verdict.is_forward());
  EXPECT_EQ(sent.source(), kExternalEnd);
  const uint16_t identifier = sent.word(38);
  EXPECT_EQ(lb::checksum_from_scratch(std::span(sent.frame).subspan(34)), 0);
  Frame reply = echo("198.51.100.1", kExternalEnd, 0, identifier);
  reply[5] = 2;
  const Sent back = send(reply, 1);
  ASSERT_TRUE(back.verdict.is_forward());
  EXPECT_EQ(back.destination(), "10.0.0.10");
  EXPECT_EQ(back.word(38), 77);
  EXPECT_EQ(lb::checksum_from_scratch(std::span(back.frame).subspan(34)), 0);
  // A reply that nobody asked for.
  Frame stray = echo("198.51.100.2", kExternalEnd, 0, identifier);
  stray[5] = 2;
  EXPECT_EQ(send(stray, 1).cause(), DropCause::kNoFlow);
  pass_seconds(70);
  EXPECT_EQ(send(reply, 1).cause(), drop_cause::kNoMapping);
}

TEST_F(NatTest, other_protocols_and_messages_are_refused) {
  make(nat_toml());
  Frame frame = lb::make_frame(udp("10.0.0.10", 5'000, "198.51.100.1", 53));
  frame[23] = 47;
  lb::fix_ipv4_checksum(frame);
  EXPECT_EQ(send(frame, 0).cause(), DropCause::kUnsupportedProtocol);
  EXPECT_EQ(send(echo("10.0.0.10", "198.51.100.1", 13, 7), 0).cause(),
            DropCause::kUnsupportedProtocol);
}

// Destination unreachable, administratively prohibited, about what the host sent.
void expect_told(const std::vector<Frame>& own, const std::string& host, uint16_t port) {
  ASSERT_EQ(own.size(), 1U);
  const Sent error{.frame = own[0]};
  EXPECT_EQ(error.destination(), host);
  EXPECT_EQ(error.word(34), 0x030d);
  EXPECT_EQ(error.address(14 + 20 + 8 + 12), host);
  EXPECT_EQ(error.word(14 + 20 + 8 + 20), port);
}

// RFC 5508 REQ-8.
TEST_F(NatTest, a_host_is_told_that_its_mapping_is_refused) {
  make(nat_toml("ports = [2000, 2001]\nports_per_host = 1"));
  EXPECT_TRUE(from_inside(udp("10.0.0.10", 1, "198.51.100.1", 53)).verdict.is_forward());
  EXPECT_TRUE(take_own().empty());
  EXPECT_EQ(from_inside(udp("10.0.0.10", 2, "198.51.100.1", 53)).cause(), drop_cause::kHostLimit);
  expect_told(take_own(), "10.0.0.10", 2);
  EXPECT_TRUE(from_inside(udp("10.0.1.12", 1, "198.51.100.1", 53)).verdict.is_forward());
  EXPECT_EQ(from_inside(udp("10.0.0.11", 1, "198.51.100.1", 53)).cause(), drop_cause::kNoPort);
  expect_told(take_own(), "10.0.0.11", 1);
  EXPECT_EQ(states_[0]->icmp_errors().unreachable, 2U);
}

// Connections that are established and in use give way to none.
TEST_F(NatTest, a_host_is_told_that_there_is_no_room_for_its_connection) {
  make(nat_toml("connections = 1000"));
  const auto ask = [&](uint16_t to, uint8_t flags = net::tcp::kSyn) {
    return from_inside({.source = "10.0.0.10",
                        .destination = "198.51.100.1",
                        .source_port = 5'000,
                        .destination_port = to,
                        .tcp_flags = flags});
  };
  const auto answer = [&](const std::string& from, uint16_t from_port, uint16_t to_port) {
    return from_outside({.source = from,
                         .destination = kExternalEnd,
                         .source_port = from_port,
                         .destination_port = to_port,
                         .tcp_flags = net::tcp::kSyn | net::tcp::kAck});
  };
  const uint16_t port = ask(1).source_port();
  uint16_t to = 1;
  for (; to < 10'000; ++to) {
    if (ask(to).cause()) break;
    EXPECT_TRUE(answer("198.51.100.1", to, port).verdict.is_forward());
    EXPECT_TRUE(ask(to, net::tcp::kAck).verdict.is_forward());
  }
  EXPECT_EQ(to, 1'001);
  static_cast<void>(take_own());
  EXPECT_EQ(ask(to).cause(), DropCause::kTableFull);
  expect_told(take_own(), "10.0.0.10", 5'000);
  // Nobody outside is told.
  const Sent stranger = from_outside({.source = "198.51.100.2",
                                      .destination = kExternalEnd,
                                      .source_port = 7,
                                      .destination_port = port});
  EXPECT_EQ(stranger.cause(), DropCause::kTableFull);
  EXPECT_TRUE(take_own().empty());
}

}  // namespace
}  // namespace roost::nat
