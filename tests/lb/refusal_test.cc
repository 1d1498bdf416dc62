// Packets that nothing here serves are answered where the file says so: TCP by a reset with the
// right numbers, UDP by ICMP port unreachable; and never without end, nor to what must not be
// answered.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lb/frame_bytes.h"
#include "tests/lb/refused_config.h"
#include "tests/lb/reloaded.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kFin;
using net::tcp::kRst;
using net::tcp::kSyn;

// Closed ports of virtual addresses, and services without usable backends.
const std::string kRefuseAll = "[lb]\nrefuse = true\n";

struct Refused {
  std::string client, web, own;
  bool is_ipv6 = false;
};
const Refused kRefused4 = {"192.0.2.10", "198.51.100.80", "192.0.2.1"};
const Refused kRefused6 = {"2001:db8:1::10", "2001:db8:ffff::80", "2001:db8:1::1", true};

PacketSpec tcp_to(const Refused& f, uint16_t port, uint8_t flags) {
  return {.source = f.client, .destination = f.web, .destination_port = port, .tcp_flags = flags};
}

// As it comes back to the client.
PacketSpec reset_of(const PacketSpec& sent) {
  PacketSpec reset = sent;
  std::swap(reset.source, reset.destination);
  std::swap(reset.source_port, reset.destination_port);
  std::swap(reset.source_mac, reset.destination_mac);
  reset.payload = "";
  return reset;
}

class Refusals : public testing::TestWithParam<Refused> {};

INSTANTIATE_TEST_SUITE_P(both, Refusals, testing::Values(kRefused4, kRefused6),
                         [](const auto& one) { return one.param.is_ipv6 ? "ipv6" : "ipv4"; });

// The fields of the answer that RFC 9293 gives, and right checksums.
void expect_reset(const Fate& answer, const PacketSpec& expected, uint8_t flags, uint32_t sequence,
                  uint32_t acknowledgement) {
  const std::vector<uint8_t>& frame = answer.frame;
  const bool is_ipv6 = frame[12] == 0x86;
  const size_t tcp = is_ipv6 ? 54 : 34;
  ASSERT_EQ(frame.size(), tcp + 20);
  PacketSpec spec = expected;
  spec.tcp_flags = flags;
  spec.sequence = sequence;
  spec.acknowledgement = acknowledgement;
  std::vector<uint8_t> whole = make_frame(spec);
  ASSERT_EQ(whole.size(), frame.size());
  // The test's own frames have another identification and a window.
  const size_t ends = is_ipv6 ? 22 : 26;
  EXPECT_TRUE(std::equal(whole.begin(), whole.begin() + 14, frame.begin()));
  EXPECT_EQ(std::vector(whole.begin() + static_cast<ptrdiff_t>(ends),
                        whole.begin() + static_cast<ptrdiff_t>(tcp + 14)),
            std::vector(frame.begin() + static_cast<ptrdiff_t>(ends),
                        frame.begin() + static_cast<ptrdiff_t>(tcp + 14)));
  std::vector<uint8_t> summed(frame.begin() + static_cast<ptrdiff_t>(ends), frame.end());
  summed.insert(summed.end(), {0, 20, 0, 6});  // the pseudo header, in any order
  EXPECT_EQ(checksum_from_scratch(summed), 0);
  if (is_ipv6) return;
  EXPECT_EQ(checksum_from_scratch(std::span(frame).subspan(14, 20)), 0);
}

TEST_P(Refusals, of_a_closed_port_are_numbered_as_a_closed_hosts) {
  const Refused& f = GetParam();
  TestBalancer balancer(test_config() + kRefuseAll);
  const auto answer_to = [&](const PacketSpec& sent) {
    balancer.originated.clear();
    EXPECT_EQ(balancer.send_from_client(sent).cause, drop_cause::kNoService);
    EXPECT_EQ(balancer.originated.size(), 1U);
    return balancer.originated.empty() ? Fate{} : balancer.originated[0];
  };
  // Without an acknowledgement: what the segment takes, its flags included, is acknowledged.
  PacketSpec sent = tcp_to(f, 81, kSyn);
  sent.sequence = 0xfffffffe;
  expect_reset(answer_to(sent), reset_of(sent), kRst | kAck, 0, 0xfffffffe + 5 + 1);
  sent = tcp_to(f, 81, kSyn | kFin);
  expect_reset(answer_to(sent), reset_of(sent), kRst | kAck, 0, sent.sequence + 5 + 2);
  // With one: the reset is where its sender expects the next byte.
  sent = tcp_to(f, 81, kAck);
  sent.acknowledgement = 0x12345678;
  expect_reset(answer_to(sent), reset_of(sent), kRst, 0x12345678, 0);
  EXPECT_EQ(balancer.report().resets.sent, 3U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(Refusals, are_not_given_to_resets_damage_and_fragments) {
  const Refused& f = GetParam();
  TestBalancer balancer(test_config() + kRefuseAll);
  balancer.send_from_client(tcp_to(f, 81, kRst));
  balancer.send_from_client(tcp_to(f, 81, kRst | kAck));
  std::vector<uint8_t> damaged = make_frame(tcp_to(f, 81, kSyn));
  damaged.back() ^= 1;
  balancer.send({damaged});
  EXPECT_EQ(balancer.originated.size(), 0U);
  EXPECT_EQ(balancer.report().resets.unsendable, 3U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST(refusals, of_fragments_go_to_the_first_of_a_datagram_only) {
  TestBalancer balancer(test_config() + kRefuseAll);
  for (const net::IpProtocol protocol : {net::IpProtocol::kUdp, net::IpProtocol::kTcp}) {
    PacketSpec spec = {.destination_port = 81, .protocol = protocol, .may_be_cut = true};
    spec.payload.assign(80, 'x');
    const std::vector<uint8_t> whole = make_frame(spec);
    std::vector<uint8_t> first(whole.begin(), whole.begin() + 14 + 20 + 40);
    first[17] = 60;    // its length
    first[20] = 0x20;  // more follow
    fix_ipv4_checksum(first);
    std::vector<uint8_t> later(whole.begin(), whole.begin() + 34);
    later.insert(later.end(), whole.begin() + 74, whole.end());
    later[17] = static_cast<uint8_t>(later.size() - 14);
    later[21] = 5;
    fix_ipv4_checksum(later);
    EXPECT_EQ(balancer.send({first}).cause, drop_cause::kNoService);
    EXPECT_EQ(balancer.send({later}).cause, drop_cause::kNoService);
  }
  EXPECT_EQ(balancer.originated.size(), 1U);
  const Report report = balancer.report();
  EXPECT_EQ(report.icmp_errors.unreachable, 1U);
  EXPECT_EQ(report.icmp_errors.unsendable, 1U);
  EXPECT_EQ(report.resets.unsendable, 2U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST_P(Refusals, of_udp_come_from_the_address_that_was_asked) {
  const Refused& f = GetParam();
  TestBalancer balancer(test_config() + kRefuseAll);
  const PacketSpec sent = udp(f.client, 40'000, f.web, 81);
  EXPECT_EQ(balancer.send_from_client(sent).cause, drop_cause::kNoService);
  ASSERT_EQ(balancer.originated.size(), 1U);
  const IcmpSpec expected = {.source_mac = sent.destination_mac,
                             .destination_mac = sent.source_mac,
                             .source = f.web,
                             .destination = f.client,
                             .type = static_cast<uint8_t>(f.is_ipv6 ? 1 : 3),
                             .code = static_cast<uint8_t>(f.is_ipv6 ? 4 : 3),
                             .type_of_service = 0xc0,
                             .may_be_cut = false};
  EXPECT_EQ(balancer.originated[0].frame, make_icmp_error(expected, make_frame(sent), 1'000));
  EXPECT_EQ(balancer.report().icmp_errors.unreachable, 1U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(Refusals, are_for_virtual_addresses_only_and_go_to_no_address_of_ours) {
  const Refused& f = GetParam();
  TestBalancer balancer(test_config() + kRefuseAll);
  PacketSpec to_port = tcp_to(f, 81, kSyn);
  to_port.destination = f.own;
  EXPECT_EQ(balancer.send_from_client(to_port).cause, drop_cause::kNoService);
  PacketSpec from_us = tcp_to(f, 81, kSyn);
  from_us.source = f.own;
  balancer.send_from_client(from_us);
  from_us.source = f.is_ipv6 ? "2001:db8:ffff::53" : "198.51.100.53";
  balancer.send_from_client(from_us);
  EXPECT_EQ(balancer.originated.size(), 0U);
  // Of no connection, and for a service: a backend may know it.
  balancer.send_from_client(tcp_to(f, 80, kRst));
  EXPECT_EQ(balancer.originated.size(), 0U);
  // A backend is a client as any other.
  PacketSpec from_backend = tcp_to(f, 81, kSyn);
  from_backend.source = f.is_ipv6 ? "2001:db8:2::11" : "10.0.0.11";
  from_backend.destination_mac = "02:00:00:00:00:02";
  EXPECT_EQ(balancer.send_from_backend(from_backend).cause, DropCause::kNoFlow);
  ASSERT_EQ(balancer.originated.size(), 1U);
  EXPECT_EQ(balancer.originated[0].out_port, 1);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST(refusals, are_silent_by_default) {
  TestBalancer balancer;
  balancer.send_from_client({.destination_port = 81});
  balancer.send_from_client(udp("192.0.2.10", 1, "198.51.100.80", 81));
  EXPECT_EQ(balancer.originated.size(), 0U);
}

std::string without_backends(const std::string& keys) {
  std::string toml = test_config("name = \"web\"\n", "name = \"web\"\n" + keys);
  for (const char* end : {"10.0.0.11\", port = 8080", "10.0.0.13\", port = 8080"}) {
    toml.replace(toml.find(end), std::string(end).size(), std::string(end) + ", weight = 0");
  }
  return toml.replace(toml.find("weight = 2"), 10, "weight = 0");
}

TEST(refusals, of_a_service_are_its_own_or_the_balancers) {
  struct Case {
    std::string toml;
    bool is_refused;
  };
  for (const Case& one :
       std::vector<Case>{{without_backends(""), false},
                         {without_backends("refuse = true\n"), true},
                         {without_backends("") + kRefuseAll, true},
                         {without_backends("refuse = false\n") + kRefuseAll, false}}) {
    TestBalancer balancer(one.toml);
    EXPECT_EQ(balancer.send_from_client({}).cause, drop_cause::kNoBackend);
    EXPECT_EQ(balancer.originated.size(), one.is_refused ? 1U : 0U) << one.toml;
  }
}

TEST(refusals, come_and_go_by_a_reload) {
  TestBalancer balancer;
  take(balancer, *parse_config(without_backends("refuse = true\n") + kRefuseAll).config);
  balancer.send_from_client({});
  balancer.send_from_client({.destination_port = 81});
  EXPECT_EQ(balancer.originated.size(), 2U);
  take(balancer, *parse_config(without_backends("")).config);
  balancer.send_from_client({.source_port = 2});
  balancer.send_from_client({.source_port = 2, .destination_port = 81});
  EXPECT_EQ(balancer.originated.size(), 2U);
}

TEST_P(Refusals, are_not_sent_without_end) {
  const Refused& f = GetParam();
  TestBalancer balancer(test_config() + kRefuseAll);
  PacketSpec spec = tcp_to(f, 81, kSyn);
  for (int i = 0; i < 200; ++i) balancer.send_from_client(spec);
  EXPECT_EQ(balancer.originated.size(), 50U) << "to one";
  for (int i = 0; i < 3'000; ++i) {
    spec.source = f.is_ipv6
                      ? "2001:db8:7:" + std::to_string(i) + "::1"
                      : "203.0." + std::to_string(i / 200) + "." + std::to_string(i % 200 + 1);
    balancer.send_from_client(spec);
  }
  EXPECT_EQ(balancer.originated.size(), 1'000U) << "to all";
  const Report report = balancer.report();
  EXPECT_EQ(report.resets.sent, 1'000U);
  EXPECT_EQ(report.resets.limited, 2'200U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  ++balancer.now.count;
  balancer.send_from_client(tcp_to(f, 81, kSyn));
  EXPECT_EQ(balancer.originated.size(), 1'001U);
}

TEST(config, refuses_refusals_that_are_no_booleans) {
  for (const BadFile& bad : std::vector<BadFile>{
           {"", "[lb]\nrefuse = \"tcp\" #!\n", "give true or false"},
           {"name = \"web\"\n", "name = \"web\"\nrefuse = 1 #!\n", "give true or"}}) {
    expect_refused(bad);
  }
}

}  // namespace
}  // namespace roost::lb
