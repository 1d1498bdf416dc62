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
  const size_t text_bytes = std::min({size, kTextMax, size_t{size == 0 ? 0U : data[0] * 4U}});
  const std::string_view text(reinterpret_cast<const char*>(data), text_bytes);
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
