// Any flows and any frames: every lane is decided once, what leaves still parses, and nothing that
// the tables hold is lost.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "roost/base/assert.h"
#include "roost/conntrack/timeouts.h"
#include "roost/openflow/flow_causes.h"
#include "roost/openflow/flow_text.h"
#include "roost/openflow/pipeline.h"

namespace {

using namespace roost;
using namespace roost::openflow;

constexpr size_t kTextMax = 400;
// Random bytes are seldom flows; so half of the runs have one of these.
constexpr std::array<std::string_view, 4> kFlows = {
    "priority=3,tcp,actions=mod_nw_src:192.0.2.1,mod_tp_dst:53,output:2,dec_ttl,output:3\n"
    "priority=2,udp6,actions=set_field:2001:db8::1->ipv6_src,mod_tp_src:9,in_port\n"
    "priority=1,ip,actions=mod_nw_tos:184,push_vlan:0x88a8,mod_vlan_vid:7,output:1,output:1\n",
    "ip,actions=ct(table=1),output:4\nipv6,actions=ct(commit,table=1)\n"
    "table=1,ip,ct_state=+new,actions=ct(commit),output:2\ntable=1,actions=resubmit(,2),output:3\n"
    "table=2,icmp6,actions=set_field:2001:db8::2->ipv6_dst,output:5\n",
    "dl_vlan=5,actions=pop_vlan,resubmit(7,1),output:2\n"
    "vlan_tci=0x1000/0x1000,actions=mod_vlan_pcp:3,goto_table:1\n"
    "table=1,in_port=7,actions=resubmit(,1)\ntable=1,sctp,actions=mod_tp_src:1,output:6\n",
    "actions=resubmit(,0),output:2\n"};
constexpr uint32_t kHeadroom = 16;
constexpr uint16_t kPorts = 64;

// Ports that there are not are refused where flows are loaded.
bool is_usable(const Flow& flow) {
  return std::ranges::none_of(flow.actions, [](const Action& action) {
    const auto* const output = std::get_if<Output>(&action);
    return output != nullptr && (output->port == 0 || output->port > kPorts);
  });
}

std::unique_ptr<FlowTables> tables_of(std::string_view text) {
  auto tables =
      std::make_unique<FlowTables>(classify::ClassifierConfig{.cache_entries = 64, .hash_seed = 1});
  std::vector<config::Fault> faults;
  for (const Flow& flow : parse_flows(text, faults)) {
    if (is_usable(flow)) ROOST_ASSERT(tables->add(flow).ok());
  }
  return tables;
}

// Which frame a lane is, it says itself by its first byte.
void check(const net::PacketBatch& batch, size_t lane) {
  const net::LaneVerdict verdict = batch.verdicts()[lane];
  if (verdict.is_drop()) {
    ROOST_ASSERT(!net::drop_cause_name(kFlowDropCauses, verdict.drop_cause()).empty());
    ROOST_ASSERT(verdict.drop_cause() != net::DropCause::kUndecided);
  }
  if (verdict.is_forward()) {
    ROOST_ASSERT(verdict.out_port() < kPorts);
    FlowPacket again;
    ROOST_ASSERT(classify::has_fields(again.read(batch.packets()[lane])));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool is_known = data[0] < 128;
  const size_t text_bytes = is_known ? 1 : std::min({size, kTextMax, (data[0] - size_t{127}) * 4});
  const std::string_view text =
      is_known ? kFlows[data[0] % kFlows.size()]
               : std::string_view(reinterpret_cast<const char*>(data) + 1, text_bytes - 1);
  Pipeline pipeline(
      tables_of(text),
      FlowTracker::create(
          {.connections = 16, .hash_seed = 1, .timeouts = conntrack::default_timeouts(1)})
          .value());
  std::vector<std::vector<uint8_t>> frames;
  net::PacketBatch batch;
  size_t at = text_bytes;
  while (at < size && !batch.is_full()) {
    const size_t length = std::min(size - at, size_t{data[at]} + 1);
    frames.emplace_back(kHeadroom);
    frames.back().insert(frames.back().end(), data + at, data + at + length);
    at += length;
    const auto bytes = static_cast<uint32_t>(length);
    batch.push({.data = frames.back().data() + kHeadroom,
                .contiguous_bytes = bytes,
                .total_bytes = bytes,
                .headroom = kHeadroom,
                .in_port = static_cast<uint16_t>(length % kPorts)});
  }
  net::Outbox outbox;
  pipeline.read(batch);
  pipeline.decide(batch, outbox, Tick{1});
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) check(batch, lane);
  ROOST_ASSERT(pipeline.classifier_counters().packets == pipeline.counters().lookups);
  ROOST_ASSERT(!pipeline.tables().audit().has_value() && pipeline.tracker()->audit());
  return 0;
}
