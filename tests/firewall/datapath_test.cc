// What passes: connections in both directions, what belongs to them, and what rules allow.
#include <random>

#include "tests/base/step_count.h"
#include "tests/firewall/wire_bench.h"
#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_fragments.h"
#include "tests/lb/test_icmp.h"

namespace roost::firewall {
namespace {

using lb::make_frame;
using lb::PacketSpec;
namespace flags = net::tcp;

const std::string kWebOut =
    "[[rule]]\nfrom = [\"port 0\"]\nprotocol = \"tcp\"\nports = [80]\naction = \"allow\"\n";
const std::string kDnsOut =
    "[[rule]]\nfrom = [\"port 0\"]\nprotocol = \"udp\"\nports = [53]\naction = \"allow\"\n";
const std::string kAll = "[[rule]]\naction = \"allow\"\n";

Bytes echo_of(bool is_request, uint8_t identifier = 7) {
  Bytes frame = make_frame(is_request ? lb::udp("192.0.2.10", 1, "198.51.100.80", 2)
                                      : lb::udp("198.51.100.80", 1, "192.0.2.10", 2));
  frame[23] = 1;
  frame[34] = is_request ? 8 : 0;
  frame[35] = 0;
  frame[38] = 0;
  frame[39] = identifier;
  lb::fix_ipv4_checksum(frame);
  return frame;
}

TEST(Firewall, what_one_side_begins_comes_back_and_nothing_else) {
  for (const bool is_ipv6 : {false, true}) {
    WireBench bench("", kWebOut);
    PacketSpec syn{.payload = ""};
    if (is_ipv6) {
      syn.source = "2001:db8:1::10";
      syn.destination = "2001:db8:2::80";
    }
    EXPECT_EQ(bench.send(answer_to(syn, flags::kSyn | flags::kAck), 1), "denied") << "nobody asked";
    connect_through(bench, syn);
    EXPECT_EQ(bench.send(answer_to(syn, flags::kAck), 1), "pass");
    PacketSpec other = answer_to(syn, flags::kSyn);
    other.source_port = 81;
    EXPECT_EQ(bench.send(other, 1), "denied") << "the other side begins nothing";
    syn.destination_port = 81;
    EXPECT_EQ(bench.send(syn), "denied");
    EXPECT_EQ(bench.state().filter_counters().begun, 1U);
    EXPECT_EQ(bench.state().filter_counters().established, 3U);
    EXPECT_TRUE(bench.state().tracker().audit());
  }
}

TEST(Firewall, the_first_rule_that_matches_decides) {
  WireBench bench("", "[[rule]]\nfrom = [\"192.0.2.10\"]\naction = \"deny\"\n" + kWebOut +
                          "[[rule]]\nfrom = [\"192.0.2.0/24\"]\naction = \"reject\"\n");
  EXPECT_EQ(bench.send(PacketSpec{}), "denied");
  EXPECT_EQ(bench.send(PacketSpec{.source = "192.0.2.11"}), "pass");
  EXPECT_EQ(bench.send(PacketSpec{.source = "192.0.2.11", .destination_port = 81}), "rejected");
  const auto counts = bench.state().rules().counts();
  EXPECT_EQ(counts[0].packets, 1U);
  EXPECT_EQ(counts[1].packets, 1U);
  EXPECT_EQ(counts[2].packets, 1U);
  EXPECT_EQ(counts[3].packets, 0U);
}

TEST(Firewall, a_rejected_segment_gets_a_reset_and_a_datagram_port_unreachable) {
  WireBench bench("without_rule = \"reject\"\n");
  EXPECT_EQ(bench.send(PacketSpec{}), "rejected");
  std::vector<Bytes> own = bench.take_own();
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0][23], 6);
  EXPECT_EQ(own[0][47] & flags::kRst, flags::kRst);
  EXPECT_EQ(bench.send(lb::dns_query()), "rejected");
  own = bench.take_own();
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0][23], 1);
  EXPECT_EQ(own[0][34], 3);
  EXPECT_EQ(own[0][35], 3);
  EXPECT_EQ(bench.send(PacketSpec{.tcp_flags = flags::kRst}), "rejected");
  EXPECT_TRUE(bench.take_own().empty()) << "no reset answers a reset";
}

TEST(Firewall, errors_about_a_connection_pass_in_both_directions_and_others_do_not) {
  WireBench bench("", kDnsOut);
  const PacketSpec query = lb::dns_query();
  const auto error_about = [](const PacketSpec& about) {
    return lb::make_icmp_error({.source = "203.0.113.9", .destination = about.source},
                               make_frame(about), 28);
  };
  EXPECT_EQ(bench.send(error_about(query), 1), "icmp_no_flow");
  EXPECT_EQ(bench.send(query), "pass");
  EXPECT_EQ(bench.send(error_about(query), 1), "pass");
  EXPECT_EQ(bench.send(answer_to(query), 1), "pass");
  EXPECT_EQ(bench.send(error_about(answer_to(query))), "pass");
  EXPECT_EQ(bench.state().filter_counters().related, 2U);
}

TEST(Firewall, an_echo_reply_needs_its_request) {
  WireBench bench("", "[[rule]]\nfrom = [\"port 0\"]\nprotocol = \"icmp\"\naction = \"allow\"\n");
  EXPECT_EQ(bench.send(echo_of(false), 1), "denied");
  EXPECT_EQ(bench.send(echo_of(false)), "no_flow") << "allowed, and begins nothing";
  EXPECT_EQ(bench.send(echo_of(true)), "pass");
  EXPECT_EQ(bench.send(echo_of(false), 1), "pass");
  EXPECT_EQ(bench.send(echo_of(false, 8), 1), "denied");
}

TEST(Firewall, fragments_follow_their_first_one_and_wait_for_it) {
  std::mt19937_64 random(5);
  for (const lb::FragmentFamily& family : {lb::kFragments4, lb::kFragments6}) {
    WireBench bench("", kDnsOut);
    std::vector<Bytes> parts = lb::fragments_of(family, lb::query(family, 2'000), 9, random);
    for (const Bytes& part : parts) EXPECT_EQ(bench.send(part), "pass");
    parts = lb::fragments_of(family, lb::query(family, 2'000), 10, random);
    for (size_t i = 1; i < parts.size(); ++i) EXPECT_EQ(bench.send(parts[i]), "kept");
    EXPECT_EQ(bench.send(parts[0]), "pass");
    std::vector<Bytes> released = bench.take_own();
    EXPECT_EQ(released, std::vector<Bytes>(parts.begin() + 1, parts.end()));
  }
}

TEST(Firewall, fragments_of_what_is_denied_do_not_pass_either) {
  std::mt19937_64 random(6);
  WireBench bench("", kWebOut);
  const std::vector<Bytes> parts =
      lb::fragments_of(lb::kFragments4, lb::query(lb::kFragments4, 2'000), 9, random);
  for (size_t i = 1; i < parts.size(); ++i) EXPECT_EQ(bench.send(parts[i]), "kept");
  EXPECT_EQ(bench.send(parts[0]), "denied");
  EXPECT_TRUE(bench.take_own().empty());
  const conntrack::FragmentReport report = bench.state().tracker().fragment_report();
  EXPECT_EQ(report.counters.released, parts.size() - 1);
  EXPECT_EQ(report.dropped, parts.size() - 1);
}

TEST(Firewall, a_connection_of_one_batch_begins_once) {
  WireBench bench("", kAll);
  const Bytes query = make_frame(lb::dns_query());
  EXPECT_EQ(bench.send({query, query, query}), (std::vector<std::string>(3, "pass")));
  EXPECT_EQ(bench.state().tracker().counts().created, 1U);
}

TEST(Firewall, without_pick_up_only_a_syn_begins_a_connection_of_tcp) {
  const PacketSpec middle{.tcp_flags = flags::kAck};
  WireBench strict("pick_up = false\n", kAll);
  EXPECT_EQ(strict.send(middle), "no_flow");
  EXPECT_EQ(strict.send(lb::dns_query()), "pass");
  WireBench loose("", kAll);
  EXPECT_EQ(loose.send(middle), "pass");
  EXPECT_EQ(loose.send(PacketSpec{.source = "192.0.2.99", .tcp_flags = flags::kRst}), "no_flow");
}

TEST(Firewall, without_connections_every_packet_asks_the_rules) {
  WireBench bench("stateful = false\n", kWebOut);
  EXPECT_EQ(bench.send(PacketSpec{}), "pass");
  EXPECT_EQ(bench.send(answer_to({}, flags::kSyn | flags::kAck), 1), "denied");
  EXPECT_EQ(bench.state().tracker().counts().created, 0U);
  std::mt19937_64 random(8);
  WireBench dns("stateful = false\n", kDnsOut);
  for (const Bytes& part :
       lb::fragments_of(lb::kFragments4, lb::query(lb::kFragments4, 2'000), 9, random)) {
    EXPECT_EQ(dns.send(part), "pass") << "with the ports of the first one";
  }
}

TEST(Firewall, a_wire_passes_what_belongs_to_its_link) {
  WireBench bench("");
  Bytes arp = make_frame({});
  arp[12] = 8;
  arp[13] = 6;
  EXPECT_EQ(bench.send(arp), "pass");
  Bytes other = arp;
  other[12] = 0x88;
  other[13] = 0xcc;  // LLDP
  EXPECT_EQ(bench.send(other), "not_ip");
  EXPECT_EQ(WireBench("pass_other_ethertypes = true\n").send(other), "pass");
  PacketSpec ping = lb::udp("2001:db8:1::10", 1, "2001:db8:2::80", 2);
  for (const auto& [type, hop_limit, fate] :
       {std::tuple<uint8_t, uint8_t, std::string>{135, 255, "pass"},
        {136, 254, "denied"},
        {143, 1, "pass"},
        {128, 255, "denied"}}) {
    Bytes message = make_frame(ping);
    message[20] = 58;
    message[21] = hop_limit;
    message[54] = type;
    message[55] = 0;
    EXPECT_EQ(bench.send(message), fate) << int{type};
  }
  EXPECT_EQ(bench.state().filter_counters().link, 3U);
}

TEST(Firewall, a_flood_of_ten_tables_displaces_no_connection_that_is_assured) {
  constexpr uint64_t kConnections = step_count(20'000);
  constexpr auto kAssured = static_cast<uint32_t>(kConnections / 10);
  WireBench bench("connections = " + std::to_string(kConnections) + "\n", kAll);
  const auto assured = [](uint32_t i) {
    return PacketSpec{.source_port = static_cast<uint16_t>(1'024 + i), .payload = ""};
  };
  for (uint32_t i = 0; i < kAssured; ++i) connect_through(bench, assured(i));
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < 10 * kConnections; ++i) {
    const uint64_t draw = random();
    Bytes syn = make_frame({.payload = ""});
    for (size_t at = 26; at < 30; ++at)
      syn[at] = static_cast<uint8_t>(1 + (draw >> (8 * (at - 26))) % 99);
    lb::fix_ipv4_checksum(syn);
    bench.send(syn);
  }
  conntrack::FlowCounts counts = bench.state().tracker().counts();
  EXPECT_GT(counts.evicted, 8 * kConnections);
  for (uint32_t i = 0; i < kAssured; ++i) {
    PacketSpec answer = answer_to(assured(i), flags::kAck);
    ASSERT_EQ(bench.send(answer, 1), "pass");
  }
  const uint64_t created = bench.state().tracker().counts().created;
  EXPECT_EQ(created, counts.created) << "answers that find their connections begin none";
  bench.state().tracker().settle();
  counts = bench.state().tracker().counts();
  EXPECT_EQ(counts.held(), bench.state().tracker().count_live());
}

TEST(Firewall, log_lines_are_bounded_and_counted) {
  WireBench bench("log_per_second = 3\n",
                  "[[rule]]\nname = \"web\"\nprotocol = \"tcp\"\naction = \"deny\"\nlog = true\n");
  for (uint16_t i = 0; i < 10; ++i) bench.send(PacketSpec{.source_port = i});
  EXPECT_EQ(bench.state().log().records().size(), 3U);
  EXPECT_EQ(bench.state().log().suppressed(), 7U);
  EXPECT_EQ(bench.state().log().records()[2].source_port, 2);
  bench.now = Tick{2};
  bench.send(PacketSpec{.source_port = 11});
  EXPECT_EQ(bench.state().log().records().size(), 4U);
}

}  // namespace
}  // namespace roost::firewall
