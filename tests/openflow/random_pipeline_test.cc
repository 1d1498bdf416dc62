// Random actions on random frames: what leaves has right checksums, and is what the fields say.
#include <random>

#include "roost/traffic/draw.h"
#include "tests/net/random_frame.h"
#include "tests/openflow/flow_bench.h"

namespace roost::openflow {
namespace {

// Actions that write, of every kind, in any order; packets without the field stay as they are.
std::string random_actions(traffic::Draw& draw) {
  const auto byte = [&] { return draw.below(256); };
  std::string text;
  for (uint64_t i = draw.below(6); i-- > 0;) {
    switch (draw.below(8)) {
      case 0:
        text += fmt::format("mod_nw_src:{}.{}.{}.{},", byte(), byte(), byte(), byte());
        break;
      case 1:
        text += fmt::format("mod_nw_dst:{}.{}.{}.{},", byte(), byte(), byte(), byte());
        break;
      case 2:
        text += fmt::format("mod_nw_tos:{},", draw.below(64) * 4);
        break;
      case 3:
        text += fmt::format("mod_dl_src:02:00:{:02x}:{:02x}:00:01,", byte(), byte());
        break;
      case 4:
        text += fmt::format("mod_vlan_vid:{},", draw.below(4'096));
        break;
      case 5:
        text += fmt::format("mod_vlan_pcp:{},", draw.below(8));
        break;
      case 6:
        text += "dec_ttl,";
        break;
      default:
        text += "push_vlan:0x88a8,";
        break;
    }
  }
  return text;
}

// Of those that can be: a text with a fault is drawn anew.
std::string random_flow(traffic::Draw& draw) {
  constexpr std::array<std::string_view, 5> kKinds = {"ip", "tcp", "udp", "tcp6", "udp6"};
  while (true) {
    const std::string_view kind = kKinds[draw.below(kKinds.size())];
    std::string actions = random_actions(draw);
    if (kind.size() > 2 && draw.below(2) == 0)
      actions +=
          fmt::format("mod_tp_src:{},mod_tp_dst:{},", draw.below(65'536), draw.below(65'536));
    if (kind.ends_with('6') && draw.below(2) == 0)
      actions += fmt::format("set_field:2001:db8::{:x}->ipv6_dst,", draw.below(65'536));
    std::string text =
        fmt::format("priority={},{},actions={}output:2\n", draw.below(65'536), kind, actions);
    std::vector<config::Fault> faults;
    static_cast<void>(parse_flows(text, faults));
    if (faults.empty()) return text;
  }
}

// Of IP, TCP and UDP, all as they should be.
void expect_right_checksums(const Bytes& frame, const std::string& flow) {
  Bytes copy = frame;
  const auto length = static_cast<uint32_t>(copy.size());
  net::ParsedPacket parsed;
  const net::ParseVerdict verdict =
      net::parse({.data = copy.data(), .contiguous_bytes = length, .total_bytes = length}, parsed);
  if (verdict == net::ParseVerdict::kNotIp) return;  // behind a third tag
  ASSERT_EQ(verdict, net::ParseVerdict::kOk) << flow;
  net::recompute_checksums(copy, parsed);
  ASSERT_EQ(copy, frame) << flow;
}

TEST(RandomPipeline, what_leaves_has_right_checksums) {
  traffic::Draw draw(7);
  std::mt19937_64 random(7);
  uint64_t sent = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string flow = random_flow(draw) + random_flow(draw);
    FlowBench bench(flow);
    for (int i = 0; i < 100; ++i) {
      const Fate fate = bench.send(net::random_frame(random));
      for (const auto& [port, frame] : fate.sent) {
        ++sent;
        expect_right_checksums(frame, flow);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(sent, 2'000U);
}

}  // namespace
}  // namespace roost::openflow
