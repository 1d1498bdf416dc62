// The action `ct`: what the tracker says of packets, and how they go on.
#include "roost/net/icmp_error.h"
#include "tests/lb/test_icmp.h"
#include "tests/lb/test_packet.h"
#include "tests/openflow/flow_bench.h"

namespace roost::openflow {
namespace {

using lb::make_frame;
using lb::PacketSpec;
namespace flags = net::tcp;

// A packet leaves by the port that says its state.
constexpr std::string_view kByState =
    "priority=2,ip,ct_state=-trk,actions=ct(table=1)\n"
    "priority=2,ipv6,ct_state=-trk,actions=ct(table=1)\n"
    "table=1,ip,ct_state=+trk+new,actions=ct(commit),output:2\n"
    "table=1,ipv6,ct_state=+trk+new,actions=ct(commit),output:2\n"
    "table=1,ct_state=+trk+est-rpl,actions=output:3\n"
    "table=1,ct_state=+trk+est+rpl,actions=output:4\n"
    "table=1,ct_state=+trk+rel,actions=output:5\n"
    "table=1,ct_state=+trk+inv,actions=output:6\n";

PacketSpec answer(PacketSpec packet, uint8_t tcp_flags) {
  std::swap(packet.source, packet.destination);
  std::swap(packet.source_port, packet.destination_port);
  packet.tcp_flags = tcp_flags;
  return packet;
}

TEST(Tracking, a_connection_is_new_then_established_in_both_directions) {
  FlowBench bench(kByState);
  const PacketSpec syn{.payload = ""};
  EXPECT_EQ(bench.send(make_frame(syn)).ports(), "2");
  EXPECT_EQ(bench.send(make_frame(syn)).ports(), "2") << "not answered yet";
  EXPECT_EQ(bench.send(make_frame(answer(syn, flags::kSyn | flags::kAck))).ports(), "4");
  PacketSpec data = syn;
  data.tcp_flags = flags::kAck;
  EXPECT_EQ(bench.send(make_frame(data)).ports(), "3");
  EXPECT_EQ(bench.pipeline().tracker()->counts().created, 1U);
  EXPECT_TRUE(bench.pipeline().tracker()->audit());
}

TEST(Tracking, udp_of_both_families) {
  FlowBench bench(kByState);
  for (const bool is_ipv6 : {false, true}) {
    PacketSpec query = lb::udp(is_ipv6 ? "2001:db8::1" : "192.0.2.1", 5'000,
                               is_ipv6 ? "2001:db8::2" : "192.0.2.2", 53);
    EXPECT_EQ(bench.send(make_frame(query)).ports(), "2");
    EXPECT_EQ(bench.send(make_frame(answer(query, 0))).ports(), "4");
    EXPECT_EQ(bench.send(make_frame(query)).ports(), "3");
  }
}

TEST(Tracking, what_was_not_committed_stays_new) {
  FlowBench bench(
      "ip,ct_state=-trk,actions=ct(table=1)\ntable=1,ct_state=+new,actions=output:2\n"
      "table=1,ct_state=+est,actions=output:3\n");
  const PacketSpec query = lb::udp("192.0.2.1", 5'000, "192.0.2.2", 53);
  EXPECT_EQ(bench.send(make_frame(query)).ports(), "2");
  EXPECT_EQ(bench.send(make_frame(answer(query, 0))).ports(), "2") << "another connection";
  EXPECT_EQ(bench.pipeline().tracker()->counts().created, 0U);
}

TEST(Tracking, a_reset_without_a_connection_is_invalid_and_so_are_other_icmp_messages) {
  FlowBench bench(kByState);
  EXPECT_EQ(bench.send(make_frame({.tcp_flags = flags::kRst})).ports(), "6");
  Bytes frame = make_frame({});
  frame[23] = 1;
  frame[34] = 13;  // timestamp
  lb::fix_ipv4_checksum(frame);
  EXPECT_EQ(bench.send(frame).ports(), "6");
}

TEST(Tracking, an_echo_reply_belongs_to_its_request_and_errors_about_it_are_related) {
  FlowBench bench(kByState);
  Bytes request = make_frame(lb::udp("192.0.2.1", 5'000, "192.0.2.2", 53));
  request[23] = 1;
  request[34] = 8;
  request[35] = 0;
  lb::fix_ipv4_checksum(request);
  Bytes reply = request;
  std::swap_ranges(reply.begin() + 26, reply.begin() + 30, reply.begin() + 30);
  reply[34] = 0;
  lb::fix_ipv4_checksum(reply);
  EXPECT_EQ(bench.send(reply).ports(), "6") << "without a request";
  EXPECT_EQ(bench.send(request).ports(), "2");
  EXPECT_EQ(bench.send(reply).ports(), "4");
  EXPECT_EQ(bench.send(request).ports(), "3");
  Bytes other = reply;
  other[39] ^= 1;  // the identifier
  EXPECT_EQ(bench.send(other).ports(), "6");
  const Bytes error =
      lb::make_icmp_error({.source = "198.51.100.1", .destination = "192.0.2.1"}, request, 28);
  EXPECT_EQ(bench.send(error).ports(), "5");
  bench.now = Tick{1'000 + 31};
  EXPECT_EQ(bench.send(reply).ports(), "6") << "it expired";
}

TEST(Tracking, another_protocol_is_one_connection_of_two_addresses) {
  FlowBench bench(kByState);
  Bytes packet = make_frame({});
  packet[23] = 47;  // GRE
  lb::fix_ipv4_checksum(packet);
  Bytes back = packet;
  std::swap_ranges(back.begin() + 26, back.begin() + 30, back.begin() + 30);
  EXPECT_EQ(bench.send(packet).ports(), "2");
  EXPECT_EQ(bench.send(back).ports(), "4");
  EXPECT_EQ(bench.send(packet).ports(), "3");
}

TEST(Tracking, a_connection_expires) {
  FlowBench bench(kByState);
  const PacketSpec query = lb::udp("192.0.2.1", 5'000, "192.0.2.2", 53);
  EXPECT_EQ(bench.send(make_frame(query)).ports(), "2");
  bench.now = Tick{1'000 + 61};
  EXPECT_EQ(bench.send(make_frame(answer(query, 0))).ports(), "2") << "it begins one itself";
}

TEST(Tracking, a_full_table_drops_what_it_cannot_keep) {
  FlowBench bench("ip,actions=ct(commit),output:2");
  std::string last;
  for (uint16_t i = 0; i < 3'000 && last != "table_full"; ++i) {
    PacketSpec syn{.source_port = i, .payload = ""};
    last = bench.send(make_frame(syn)).ports();
    bench.send(make_frame(answer(syn, flags::kSyn | flags::kAck)));
    syn.tcp_flags = flags::kAck;
    syn.sequence += 1;
    syn.acknowledgement += 1;
    bench.send(make_frame(syn));
  }
  EXPECT_EQ(last, "table_full");
  EXPECT_EQ(bench.pipeline().tracker()->counts().held(), bench.pipeline().tracker()->count_live());
}

TEST(Tracking, with_actions_behind_it_a_copy_goes_on_at_the_table) {
  FlowBench bench(
      "ip,actions=ct(table=1),mod_nw_dst:203.0.113.9,output:2\n"
      "table=1,ct_state=+new,actions=output:3\n");
  const Fate sent = bench.send(make_frame({}));
  EXPECT_EQ(sent.ports(), "2 3");
  EXPECT_EQ(sent.sent.find(2)->second, make_frame({.destination = "203.0.113.9"}));
  EXPECT_EQ(sent.sent.find(3)->second, make_frame({}));
  EXPECT_EQ(bench.pipeline().counters().copies_dropped, 0U);

  FlowBench dropped("ip,actions=ct(table=1),output:2\ntable=1,ct_state=+est,actions=output:3\n");
  EXPECT_EQ(dropped.send(make_frame({})).ports(), "2");
  EXPECT_EQ(dropped.pipeline().counters().copies_dropped, 1U);
}

TEST(Tracking, copies_of_copies_come_to_an_end) {
  FlowBench bench("ip,actions=ct(table=0),output:2");
  EXPECT_EQ(bench.send(make_frame({})).sent.count(2), Pipeline::kBranchesMax + 1);
  EXPECT_EQ(bench.pipeline().counters().copies_lost, 1U);
  FlowBench loop("ip,actions=ct(table=0)");
  EXPECT_EQ(loop.send(make_frame({})).drop, "too_many_lookups");
}

}  // namespace
}  // namespace roost::openflow
