// What flow tables do with packets: which flow wins, what its actions write, where packets leave.
#include "roost/openflow/pipeline.h"

#include "tests/lb/test_packet.h"
#include "tests/openflow/flow_bench.h"

namespace roost::openflow {
namespace {

using lb::make_frame;
using lb::PacketSpec;

const PacketSpec kUdp6 = {.source = "2001:db8::1",
                          .destination = "2001:db8::2",
                          .protocol = net::IpProtocol::kUdp,
                          .payload = "six"};

std::string fate(std::string_view flows, const PacketSpec& packet = {}, uint16_t in_port = 1) {
  return FlowBench(flows).send(make_frame(packet), in_port).ports();
}
// What a frame of this packet is when the only flow has these actions and then sends it by port 2.
Bytes after(std::string_view actions, const PacketSpec& packet, std::string_view match = "ip") {
  return FlowBench(fmt::format("{},actions={},output:2", match, actions))
      .send(make_frame(packet))
      .frame();
}

TEST(Pipeline, the_highest_priority_wins_and_says_what_becomes_of_a_packet) {
  EXPECT_EQ(fate("priority=1,actions=output:2\npriority=2,tcp,actions=output:3"), "3");
  EXPECT_EQ(fate("priority=1,actions=output:2\npriority=2,tcp,actions=drop"), "rule_drop");
  EXPECT_EQ(fate("udp,actions=output:2"), "no_rule");
  EXPECT_EQ(fate("table=1,actions=output:2"), "no_rule");
}

TEST(Pipeline, flows_of_equal_actions_have_them_until_the_last_of_them_goes) {
  FlowTables tables({.hash_seed = 1});
  std::vector<FlowId> ids;
  const auto add = [&](std::string_view flow) {
    ids.push_back(tables.add(flows_of(flow).front()).value());
  };
  const auto actions_of = [&](size_t flow) -> std::vector<Action> {
    const classify::Rule* rule = tables.table(0)->find(ids[flow].rule);
    const auto actions = tables.actions_of({ids[flow].rule.index, rule->action});
    return {actions->begin(), actions->end()};
  };
  const std::vector<Action> two = {Output{2}};
  add("tcp,actions=output:2");
  add("udp,actions=output:2");
  add("icmp,actions=output:3");
  ASSERT_TRUE(tables.erase(ids[0]));
  add("arp,actions=output:3,output:2");  // not where the others stand
  EXPECT_EQ(actions_of(1), two);
  ASSERT_TRUE(tables.erase(ids[1]));
  add("sctp,actions=output:1");
  add("tcp,actions=output:2");
  EXPECT_EQ(actions_of(2), std::vector<Action>{Output{3}});
  EXPECT_EQ(actions_of(3), (std::vector<Action>{Output{3}, Output{2}}));
  EXPECT_EQ(actions_of(4), std::vector<Action>{Output{1}});
  EXPECT_EQ(actions_of(5), two);
}

TEST(Pipeline, what_cannot_be_parsed_is_dropped_with_its_cause) {
  FlowBench bench("actions=output:2");
  Bytes frame = make_frame({});
  frame[24] ^= 1;  // the IPv4 checksum
  EXPECT_EQ(bench.send(frame).drop, "bad_checksum");
  frame.resize(20);
  EXPECT_EQ(bench.send(frame).drop, "truncated");
}

TEST(Pipeline, output_leaves_out_the_port_that_a_packet_came_by_and_in_port_does_not) {
  EXPECT_EQ(fate("actions=output:1"), "to_in_port");
  EXPECT_EQ(fate("actions=output:1,output:2,output:3"), "2 3");
  EXPECT_EQ(fate("actions=in_port"), "1");
  EXPECT_EQ(fate("actions=output:2,output:2"), "2 2");
}

TEST(Pipeline, fields_are_written_with_all_checksums_right) {
  const PacketSpec tcp;
  const auto expect = [](const Bytes& frame, const PacketSpec& wanted) {
    EXPECT_EQ(frame, make_frame(wanted));
  };
  expect(after("set_field:02:00:00:00:09:09->eth_dst,set_field:02:00:00:00:08:08->eth_src", tcp),
         {.source_mac = "02:00:00:00:08:08", .destination_mac = "02:00:00:00:09:09"});
  expect(after("set_field:203.0.113.9->ip_dst,set_field:198.51.100.7->ip_src", tcp),
         {.source = "198.51.100.7", .destination = "203.0.113.9"});
  expect(after("set_field:443->tcp_dst,set_field:1024->tcp_src", tcp, "tcp"),
         {.source_port = 1'024, .destination_port = 443});
  PacketSpec wanted = kUdp6;
  wanted.source = "2001:db8::99";
  wanted.destination_port = 53;
  expect(after("set_field:2001:db8::99->ipv6_src,set_field:53->udp_dst", kUdp6, "udp6"), wanted);
  expect(after("dec_ttl,dec_ttl", tcp), {.ttl = 62});
}

TEST(Pipeline, the_differentiated_services_of_a_packet_without_its_ecn) {
  const Bytes frame = after("mod_nw_tos:184", {});
  EXPECT_EQ(frame[15], 184);
  Bytes marked = make_frame({});
  marked[15] = 3;  // ECN: congestion
  lb::fix_ipv4_checksum(marked);
  EXPECT_EQ(FlowBench("ip,actions=mod_nw_tos:184,output:2").send(marked).frame()[15], 187);
  EXPECT_EQ(after("mod_nw_tos:0", {}), make_frame({}));
}

TEST(Pipeline, a_udp_packet_without_checksum_stays_without) {
  const PacketSpec none = {.protocol = net::IpProtocol::kUdp, .has_udp_checksum = false};
  PacketSpec wanted = none;
  wanted.destination = "203.0.113.9";
  EXPECT_EQ(after("set_field:203.0.113.9->ip_dst", none), make_frame(wanted));
}

TEST(Pipeline, fields_that_a_packet_has_not_stay_unwritten) {
  Bytes later = make_frame({});
  later[20] = 0;   // it may be cut
  later[21] = 40;  // a fragment's offset: no ports
  lb::fix_ipv4_checksum(later);
  FlowBench bench("tcp,actions=mod_tp_dst:443,output:2");
  EXPECT_EQ(bench.send(later).frame(), later);
}

TEST(Pipeline, time_to_live_ends) {
  FlowBench bench("ip,actions=dec_ttl,output:2");
  EXPECT_EQ(bench.send(make_frame({.ttl = 1})).drop, "ttl_expired");
  EXPECT_EQ(bench.send(make_frame({.ttl = 2})).frame(), make_frame({.ttl = 1}));
  // The list of actions ends there; the one that resubmitted goes on.
  EXPECT_EQ(
      fate("ip,actions=resubmit(,1),output:3\ntable=1,ip,actions=dec_ttl,output:2", {.ttl = 1}),
      "3");
}

TEST(Pipeline, tags_come_and_go) {
  EXPECT_EQ(after("push_vlan:0x8100,set_field:4116->vlan_vid", {}), make_frame({.vlan = {20}}));
  EXPECT_EQ(after("pop_vlan", {.vlan = {20}}, "dl_vlan=20"), make_frame({}));
  EXPECT_EQ(after("mod_vlan_vid:30", {.vlan = {20}}, "dl_vlan=20"), make_frame({.vlan = {30}}));
  EXPECT_EQ(after("pop_vlan", {.vlan = {20, 30}}, "dl_vlan=20").size(),
            make_frame({.vlan = {30}}).size());
}

TEST(Pipeline, later_tables_see_what_actions_wrote) {
  EXPECT_EQ(fate("actions=set_field:7->reg0,goto_table:1\n"
                 "table=1,reg0=7,actions=output:3\ntable=1,priority=1,actions=output:2"),
            "3");
  EXPECT_EQ(fate("ip,actions=mod_nw_dst:203.0.113.9,resubmit(,2)\n"
                 "table=2,ip,nw_dst=203.0.113.9,actions=output:2"),
            "2");
  EXPECT_EQ(fate("actions=push_vlan:0x8100,mod_vlan_vid:5,goto_table:1\n"
                 "table=1,dl_vlan=5,actions=output:3"),
            "3");
}

TEST(Pipeline, a_resubmit_comes_back_and_its_port_is_that_of_one_lookup) {
  EXPECT_EQ(fate("actions=resubmit(,1),output:3\ntable=1,actions=output:2"), "2 3");
  EXPECT_EQ(fate("in_port=1,actions=resubmit:9,output:3\nin_port=9,actions=output:2,output:1"),
            "2 3");
  // Without a table, it is that of the flow at hand, also behind another resubmit.
  EXPECT_EQ(fate("actions=goto_table:1\ntable=1,in_port=1,actions=resubmit(,2),resubmit:9\n"
                 "table=1,in_port=9,actions=output:3\ntable=2,actions=output:2"),
            "2 3");
  EXPECT_EQ(fate("in_port=1,actions=resubmit:9\nin_port=9,actions=goto_table:1\n"
                 "table=1,in_port=1,actions=output:2\ntable=1,in_port=9,actions=output:3"),
            "2");
  EXPECT_EQ(fate("actions=resubmit(,7),output:3"), "3");
}

TEST(Pipeline, flows_that_resubmit_to_themselves_end) {
  EXPECT_EQ(fate("actions=output:2,resubmit(,0)"), "too_many_lookups");
  // Each of eight tables four times the next: 4^7 lookups.
  std::string flows;
  for (int table = 0; table < 7; ++table)
    flows += fmt::format(
        "table={0},actions=resubmit(,{1}),resubmit(,{1}),resubmit(,{1}),resubmit(,{1})\n", table,
        table + 1);
  EXPECT_EQ(fate(flows + "table=7,actions=output:2\n"), "too_many_lookups");
}

TEST(Pipeline, a_form_of_before_leaves_as_it_was) {
  const Fate sent = FlowBench("ip,actions=output:2,mod_nw_dst:203.0.113.9,output:3,output:4")
                        .send(make_frame({}));
  EXPECT_EQ(sent.ports(), "2 3 4");
  EXPECT_EQ(sent.sent.find(2)->second, make_frame({}));
  EXPECT_EQ(sent.sent.find(4)->second, make_frame({.destination = "203.0.113.9"}));
  const Fate last = FlowBench("ip,actions=output:2,dec_ttl").send(make_frame({}));
  EXPECT_EQ(last.sent.find(2)->second, make_frame({}));
}

TEST(Pipeline, flows_are_erased_and_their_places_used_again) {
  FlowBench bench("priority=1,actions=output:2");
  FlowTables& tables = bench.pipeline().tables();
  for (int round = 0; round < 3; ++round) {
    const FlowId id = tables.add(flows_of("priority=5,tcp,actions=output:3")[0]).value();
    EXPECT_EQ(bench.send(make_frame({})).ports(), "3");
    EXPECT_EQ(tables.counts(id)->packets, 1U);
    EXPECT_TRUE(tables.erase(id));
    EXPECT_FALSE(tables.erase(id));
    EXPECT_FALSE(tables.counts(id).has_value());
    EXPECT_EQ(bench.send(make_frame({})).ports(), "2");
  }
  EXPECT_EQ(tables.flow_count(), 1U);
  EXPECT_EQ(tables.audit(), std::nullopt);
}

TEST(Pipeline, other_tables_take_over_and_counts_go_on) {
  FlowBench bench("actions=output:2");
  EXPECT_EQ(bench.send(make_frame({})).ports(), "2");
  auto tables = tables_of("actions=output:3");
  bench.pipeline().exchange(tables);
  EXPECT_EQ(bench.send(make_frame({})).ports(), "3");
  EXPECT_EQ(bench.pipeline().counters().lookups, 2U);
  EXPECT_EQ(bench.pipeline().classifier_counters().packets, 2U);
}

TEST(Pipeline, a_batch_of_many_ways_is_decided_as_one_by_one) {
  FlowBench bench(
      "tcp,tp_src=40000,actions=goto_table:1\ntcp,tp_src=40001,actions=resubmit(,2),output:4\n"
      "tcp,tp_src=40002,actions=drop\ntable=1,ip,actions=dec_ttl,goto_table:2\n"
      "table=2,actions=output:3\n");
  std::vector<Bytes> frames;
  net::PacketBatch batch;
  for (uint16_t i = 0; i < net::kBatchLanesMax; ++i)
    frames.push_back(make_frame({.source_port = static_cast<uint16_t>(40'000 + i % 4)}));
  for (Bytes& frame : frames) {
    const auto length = static_cast<uint32_t>(frame.size());
    batch.push({.data = frame.data(), .contiguous_bytes = length, .total_bytes = length});
  }
  net::Outbox outbox;
  bench.pipeline().read(batch);
  bench.pipeline().decide(batch, outbox, Tick{1'000});
  for (size_t i = 0; i < net::kBatchLanesMax; ++i) {
    const net::LaneVerdict verdict = batch.verdicts()[i];
    switch (i % 4) {
      case 0:
        EXPECT_EQ(verdict.out_port(), 2) << i;
        break;
      case 1:
        EXPECT_TRUE(verdict.is_replicated()) << i;
        break;
      default:
        EXPECT_EQ(verdict.drop_cause(), i % 4 == 2 ? kRuleDrop : kNoRule) << i;
    }
  }
}

}  // namespace
}  // namespace roost::openflow
