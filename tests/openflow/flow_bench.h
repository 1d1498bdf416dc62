// A pipeline with flows given as text, and what becomes of frames.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roost/conntrack/timeouts.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/openflow/flow_causes.h"
#include "roost/openflow/flow_text.h"
#include "roost/openflow/pipeline.h"

namespace roost::openflow {

using Bytes = std::vector<uint8_t>;

[[nodiscard]] inline std::vector<Flow> flows_of(std::string_view text) {
  std::vector<config::Fault> faults;
  std::vector<Flow> flows = parse_flows(text, faults);
  for (const config::Fault& fault : faults) ADD_FAILURE() << config::describe(fault, "flows");
  return flows;
}

[[nodiscard]] inline std::unique_ptr<FlowTables> tables_of(std::string_view text) {
  auto tables = std::make_unique<FlowTables>(classify::ClassifierConfig{.hash_seed = 1});
  for (const Flow& flow : flows_of(text)) EXPECT_TRUE(tables->add(flow).ok());
  return tables;
}

// The frames that left, by port as OpenFlow counts it; or the cause of the drop.
struct Fate {
  std::multimap<uint16_t, Bytes> sent{};
  std::string drop{};  // "" if the packet itself was not dropped

  [[nodiscard]] std::string ports() const {
    std::string text;
    for (const auto& [port, frame] : sent)
      text += fmt::format("{}{}", text.empty() ? "" : " ", port);
    return text.empty() ? drop : text;
  }
  // Of a packet that left once.
  [[nodiscard]] Bytes frame() const {
    EXPECT_EQ(sent.size(), 1U) << drop;
    return sent.empty() ? Bytes{} : sent.begin()->second;
  }
};

class FlowBench {
 public:
  explicit FlowBench(std::string_view flows)
      : pipeline_(
            tables_of(flows),
            FlowTracker::create(
                {.connections = 1'000, .hash_seed = 1, .timeouts = conntrack::default_timeouts(1)})
                .value()) {}

  Fate send(const Bytes& frame, uint16_t in_port = 1) {
    Bytes bytes(kHeadroom);
    bytes.insert(bytes.end(), frame.begin(), frame.end());
    net::PacketBatch batch;
    const auto length = static_cast<uint32_t>(frame.size());
    batch.push({.data = bytes.data() + kHeadroom,
                .contiguous_bytes = length,
                .total_bytes = length,
                .headroom = kHeadroom,
                .in_port = static_cast<uint16_t>(in_port - 1)});
    pipeline_.read(batch);
    pipeline_.decide(batch, outbox_, now);
    Fate fate;
    const net::Packet& packet = batch.packets()[0];
    const net::LaneVerdict verdict = batch.verdicts()[0];
    const auto add = [&](unsigned port) {
      fate.sent.emplace(static_cast<uint16_t>(port + 1),
                        Bytes(packet.data, packet.data + packet.total_bytes));
    };
    if (verdict.is_forward()) add(verdict.out_port());
    if (verdict.is_drop()) fate.drop = net::drop_cause_name(kFlowDropCauses, verdict.drop_cause());
    if (verdict.is_replicated()) {
      for (const net::PortGroup& group : batch.port_groups(0))
        for (const unsigned port : group.ports) add(port);
    }
    for (size_t i = 0; i < outbox_.frame_count(); ++i) {
      const net::Outbox::Frame copy = outbox_.frame(i);
      fate.sent.emplace(static_cast<uint16_t>(copy.out_port + 1),
                        Bytes(copy.bytes.begin(), copy.bytes.end()));
    }
    outbox_.clear();
    return fate;
  }

  [[nodiscard]] Pipeline& pipeline() { return pipeline_; }

  Tick now{1'000};

 private:
  static constexpr uint32_t kHeadroom = 64;

  Pipeline pipeline_;
  net::Outbox outbox_;
};

}  // namespace roost::openflow
