// A watched datapath's packets that leave by several ports: decided as without a watch, and seen
// with the bytes that each group of ports sends; in two phases, if it has them.
#include <gtest/gtest.h>

#include <vector>

#include "roost/trace/packet_trace_text.h"
#include "roost/trace/watched.h"

namespace roost::trace {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint16_t kVlan = 10;
const std::vector<net::PortGroup> kGroups = {
    {.ports = net::PortSet{0b0110}},
    {.ports = net::PortSet{0b1000},
     .pushed = {.count = 1, .tags = {net::VlanTag{.control = kVlan}}}}};

struct State {};
void explain(State& /*state*/, const net::Packet& /*packet*/, const net::ParsedPacket& /*parsed*/,
             net::ParseVerdict /*verdict*/, Tick /*now*/, Note& /*note*/) {}

// Floods the odd lanes' frames, by their first byte, and drops the others.
class Flood {
 public:
  explicit Flood(State& /*state*/) {}
  void process(net::PacketBatch& batch, Tick /*now*/) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      if (batch.packets()[lane].data[0] % 2 == 1) {
        batch.replicate(lane, kGroups);
      } else {
        batch.verdicts()[lane] = net::drop(net::DropCause::kMalformed);
      }
    }
  }
  void idle(Tick /*now*/, uint64_t /*budget*/) {}
  net::Outbox& outbox() { return outbox_; }

 private:
  net::Outbox outbox_;
};

// An 802.3 frame that is no IP packet.
Bytes frame_of(uint8_t number, size_t byte_count) {
  Bytes frame(byte_count, number);
  frame[12] = 0x12;
  frame[13] = 0x34;
  return frame;
}

TEST(WatchedReplicas, are_decided_and_seen_with_the_bytes_of_each_group) {
  const auto filter = io::PacketFilter::compile("");
  ASSERT_TRUE(filter);
  Watch watch({.traces_max = 8}, filter.value());
  State state;
  Watched<Flood, State> datapath(state);
  datapath.set_watch(&watch);
  std::vector<Bytes> frames = {frame_of(1, 64), frame_of(2, 64), frame_of(3, 3'000)};
  net::PacketBatch batch;
  for (Bytes& frame : frames) {
    batch.push({.data = frame.data(),
                .contiguous_bytes = static_cast<uint32_t>(frame.size()),
                .total_bytes = static_cast<uint32_t>(frame.size())});
  }
  datapath.process(batch, Tick{});

  const TraceWords words{.function = "flood",
                         .drop_causes = {},
                         .explanation = [](const Note&, const Note&) { return std::string(); }};
  for (const size_t lane : {0U, 2U}) {
    ASSERT_TRUE(batch.verdicts()[lane].is_replicated());
    EXPECT_TRUE(std::ranges::equal(batch.port_groups(lane), kGroups));
    const PacketTrace& trace = *watch.ring.front();
    ASSERT_TRUE(std::ranges::equal(trace.port_groups(), kGroups));
    EXPECT_EQ(sent_by(trace, kGroups[0]).total_bytes, frames[lane].size());
    const PacketTrace::Form trunk = sent_by(trace, kGroups[1]);
    EXPECT_EQ(trunk.total_bytes, frames[lane].size() + 4);
    EXPECT_EQ(trunk.kept_bytes, std::min<size_t>(trunk.total_bytes, kTracedBytesMax));
    Bytes expected = frames[lane];
    expected.insert(expected.begin() + 12, {0x81, 0x00, 0x00, kVlan});
    EXPECT_TRUE(std::ranges::equal(trunk.kept(), std::span(expected).first(trunk.kept_bytes)));
    const std::string text = words_of(trace, words);
    EXPECT_NE(text.find("sent       by ports 1, 2 to "), std::string::npos) << text;
    EXPECT_NE(text.find("sent       by port 3 to "), std::string::npos) << text;
    EXPECT_NE(text.find(", 68 bytes: ") != std::string::npos, lane == 2) << text;
    watch.ring.release();
    if (lane == 0) {
      EXPECT_TRUE(watch.ring.front()->port_groups().empty());
      watch.ring.release();
    }
  }
  EXPECT_TRUE(batch.verdicts()[1].is_drop());
}

// Decides in two phases, and only what it has started.
class FloodInPhases : public Flood {
 public:
  using Flood::Flood;
  struct Started {
    size_t lane_count = 0;
  };
  void start(net::PacketBatch& batch, Started& started) { started.lane_count = batch.lane_count(); }
  void finish(net::PacketBatch& batch, Started& started, Tick now) {
    EXPECT_EQ(started.lane_count, batch.lane_count());
    process(batch, now);
    started = {};
  }
};

TEST(WatchedPhases, are_decided_whole_or_seen_whole_whenever_the_watch_ends) {
  enum class Watching { kNot, kToTheEnd, kEndsBetween };
  const auto filter = io::PacketFilter::compile("");
  ASSERT_TRUE(filter);
  for (const Watching watching : {Watching::kNot, Watching::kToTheEnd, Watching::kEndsBetween}) {
    Watch watch({.traces_max = 8}, filter.value());
    State state;
    using Datapath = Watched<FloodInPhases, State>;
    Datapath datapath(state);
    if (watching != Watching::kNot) datapath.set_watch(&watch);
    Bytes frame = frame_of(1, 64);
    net::PacketBatch batch;
    batch.push({.data = frame.data(), .contiguous_bytes = 64, .total_bytes = 64});
    Datapath::Started started;
    datapath.start(batch, started);
    if (watching == Watching::kEndsBetween) watch.ring.close();
    datapath.finish(batch, started, Tick{});
    EXPECT_TRUE(batch.verdicts()[0].is_replicated());
    EXPECT_EQ(watch.ring.front() != nullptr, watching == Watching::kToTheEnd);
  }
}

}  // namespace
}  // namespace roost::trace
