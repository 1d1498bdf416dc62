// Packets that leave by several ports: each port gets each frame once, in order, with its tags;
// every replica is counted, and every reference to a buffer is given back.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "roost/net/rewrite.h"
#include "roost/node/worker_loop.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::node {
namespace {

using Bytes = std::vector<uint8_t>;

net::VlanTags tagged(uint16_t identifier) { return {1, {net::VlanTag{.control = identifier}}}; }

net::PortSet ports(std::initializer_list<unsigned> numbers) {
  net::PortSet all{};
  for (const unsigned number : numbers) all |= net::PortSet::of(number);
  return all;
}

// Frames whose number has the remainder 2 by 5 come with a tag of VLAN 20.
bool comes_tagged(uint32_t number) { return number % 5 == 2; }

// What a switch of four ports would do: port 0 receives, port 3 is a trunk.
std::vector<net::PortGroup> groups_of(uint32_t number) {
  switch (number % 5) {
    case 0:  // the same bytes by three ports
      return {{.ports = ports({1, 2, 3})}};
    case 1:  // untagged, and a tag for the trunk
      return {{.ports = ports({1, 2})}, {.ports = ports({3}), .pushed = tagged(10)}};
    case 2:  // without its tag, as it came, and with another one
      return {{.ports = ports({1}), .popped = 1},
              {.ports = ports({3})},
              {.ports = ports({2}), .popped = 1, .pushed = tagged(30)}};
    default:
      return {};
  }
}

class FloodByNumber {
 public:
  void process(net::PacketBatch& batch, Tick /*now*/) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const uint32_t number = io::frame_number(batch.packets()[lane].data);
      const std::vector<net::PortGroup> groups = groups_of(number);
      if (!groups.empty()) {
        batch.replicate(lane, groups);
      } else if (number % 5 == 3) {
        batch.verdicts()[lane] = net::LaneVerdict::forward(2);
      } else {
        batch.verdicts()[lane] = net::drop(net::DropCause{9});
      }
    }
  }
  void idle(Tick /*now*/, uint64_t /*budget*/) {}
  net::Outbox& outbox() { return outbox_; }

 private:
  net::Outbox outbox_;
};

// The tags of the frame as bytes, by their own arithmetic.
Bytes with_tags(const Bytes& frame, size_t popped, const net::VlanTags& pushed) {
  Bytes out(frame.begin(), frame.begin() + 12);
  for (size_t i = 0; i < pushed.count; ++i) {
    const uint16_t control = pushed.tags[i].control;
    out.insert(out.end(), {0x81, 0x00, static_cast<uint8_t>(control >> 8),
                           static_cast<uint8_t>(control & 0xff)});
  }
  out.insert(out.end(), frame.begin() + 12 + 4 * static_cast<ptrdiff_t>(popped), frame.end());
  return out;
}

class Replicate : public testing::Test {
 protected:
  // Every ninth frame is longer than a buffer.
  void write_frames(uint32_t count) {
    std::vector<io::Frame> frames;
    for (uint32_t number = 0; number < count; ++number) {
      Bytes frame = io::numbered_frame(number, number % 9 == 0 ? 5'000 : 60 + number % 100);
      if (comes_tagged(number)) frame = with_tags(frame, 0, tagged(20));
      frames.push_back({1'000'000 + number, frame});
      for (const net::PortGroup& group : groups_of(number)) {
        for (const unsigned port : group.ports) {
          expected_[port].push_back(with_tags(frame, group.popped, group.pushed));
        }
      }
      if (number % 5 == 3) expected_[2].push_back(frame);
    }
    io::write_capture(directory_.file("in.pcap"), frames);
    count_ = count;
  }
  void replay(io::PortRun& run) {
    io::CaptureMerge captures = run.merge({count_}, 1'000'000);
    Worker worker(function_, run.ports(), {});
    worker.run_captures(
        captures, [] { return false; }, [](const WorkerCounters&) {});
    counters_ = worker.counters();
  }
  [[nodiscard]] std::vector<std::string> devices() const {
    std::vector<std::string> all = {"net_pcap0,rx_pcap=" + directory_.file("in.pcap")};
    for (const char* port : {"1", "2", "3"}) {
      all.push_back("net_pcap" + std::string(port) + ",tx_pcap=" + out(port));
    }
    return all;
  }
  [[nodiscard]] std::string out(const std::string& port) const {
    return directory_.file("out" + port + ".pcap");
  }
  // Both sides of the sum that closes.
  void expect_sum(io::PortRun& run) {
    uint64_t left = counters_.originated + counters_.replicated;
    uint64_t right = counters_.consumed + counters_.drops.sum();
    for (const io::Port& port : run.ports()) {
      left += port.counters().received;
      right += port.counters().sent + port.counters().refused + port.counters().no_buffer;
    }
    EXPECT_EQ(left, right);
  }

  io::TemporaryDirectory directory_;
  std::map<unsigned, std::vector<Bytes>> expected_;  // by port
  uint32_t count_ = 0;
  FloodByNumber function_;
  WorkerCounters counters_;
};

TEST_F(Replicate, every_port_sends_every_frame_once_in_order_with_its_tags) {
  constexpr uint32_t kCount = 2'000;
  write_frames(kCount);
  io::PortRun run(devices());
  replay(run);
  EXPECT_EQ(counters_.packets, kCount);
  EXPECT_EQ(counters_.replicated, 3 * (kCount / 5) * 2);
  EXPECT_EQ(run.pool().in_use_count(), 0U);
  EXPECT_TRUE(run.pool().audit());
  expect_sum(run);
  uint64_t bytes_sent = 0;
  for (const auto& [port, frames] : expected_) {
    EXPECT_EQ(run.ports()[port].counters().sent, frames.size()) << port;
    for (const Bytes& frame : frames) bytes_sent += frame.size();
  }
  uint64_t bytes_counted = 0;
  for (const io::Port& port : run.ports()) bytes_counted += port.counters().sent_bytes;
  EXPECT_EQ(bytes_counted, bytes_sent);
  run.close_ports();
  for (const auto& [port, frames] : expected_) {
    const std::vector<io::Frame> sent = io::read_capture(out(std::to_string(port)));
    ASSERT_EQ(sent.size(), frames.size()) << port;
    for (size_t i = 0; i < frames.size(); ++i) ASSERT_EQ(sent[i].bytes, frames[i]) << port << i;
  }
}

TEST_F(Replicate, replicas_that_a_device_refuses_are_counted_and_freed) {
  constexpr uint32_t kCount = 4'000;
  write_frames(kCount);
  std::vector<std::string> all = devices();
  all.pop_back();
  all.emplace_back("net_ring0");  // port 3
  io::PortRun run(all);
  replay(run);
  EXPECT_EQ(run.ports()[3].counters().sent, io::kRingRoom);
  EXPECT_EQ(run.ports()[3].counters().refused, expected_[3].size() - io::kRingRoom);
  EXPECT_EQ(run.ports()[1].counters().sent, expected_[1].size());
  expect_sum(run);
  uint64_t held = 0;  // buffers, of which long frames have several
  for (size_t i = 0; i < io::kRingRoom; ++i) held += (expected_[3][i].size() + 2047) / 2048;
  EXPECT_EQ(run.pool().in_use_count(), held);
}

TEST_F(Replicate, copies_that_find_no_buffer_are_counted_by_each_port_of_their_group) {
  constexpr uint32_t kCount = 4'000;
  write_frames(kCount);
  std::vector<std::string> all = devices();
  all.pop_back();
  all.emplace_back("net_ring0");  // port 3: keeps what it gets
  io::PortRun run(all, {.buffer_count = 300});
  replay(run);
  uint64_t no_buffer = 0;
  for (const io::Port& port : run.ports()) no_buffer += port.counters().no_buffer;
  EXPECT_GT(no_buffer, 0U);
  expect_sum(run);
}

TEST_F(Replicate, a_burst_that_is_cleared_frees_what_no_port_took) {
  write_frames(32);
  io::PortRun run(devices());
  io::CaptureMerge captures = run.merge({count_}, 1'000'000);
  io::PacketBurst burst;
  ASSERT_TRUE(captures.next(burst));
  ASSERT_EQ(burst.batch().lane_count(), 32U);
  function_.process(burst.batch(), Tick{});
  burst.replicate();
  run.ports()[1].queue().transmit(burst);
  EXPECT_GT(run.pool().in_use_count(), 0U);
  burst.clear();
  EXPECT_EQ(run.pool().in_use_count(), 0U);
  EXPECT_TRUE(run.pool().audit());
}

TEST_F(Replicate, a_packet_that_comes_alone_leaves) {
  write_frames(1);
  io::PortRun run(devices());
  replay(run);
  for (const unsigned port : {1U, 2U, 3U}) EXPECT_EQ(run.ports()[port].counters().sent, 1U) << port;
  EXPECT_EQ(run.pool().in_use_count(), 0U);
}

TEST_F(Replicate, a_burst_holds_nothing_once_its_last_buffer_is_taken) {
  write_frames(2);
  io::PortRun run(devices());
  io::CaptureMerge captures = run.merge({count_}, 1'000'000);
  io::PacketBurst burst;
  ASSERT_TRUE(captures.next(burst));
  for (const uint16_t port : {uint16_t{1}, uint16_t{2}}) {
    burst.batch().verdicts()[port - 1U] = net::LaneVerdict::forward(port);
  }
  for (const unsigned port : {1U, 2U}) {
    EXPECT_FALSE(burst.holds_nothing());
    run.ports()[port].queue().transmit(burst);
  }
  EXPECT_TRUE(burst.holds_nothing());
}

// Sends everything out of ports that the test names.
struct FloodAll {
  void process(net::PacketBatch& batch, Tick /*now*/) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) batch.replicate(lane, groups);
  }
  void idle(Tick /*now*/, uint64_t /*budget*/) {}
  net::Outbox& outbox() { return box; }

  std::vector<net::PortGroup> groups;
  net::Outbox box{};
};

using ReplicateDeathTest = Replicate;

TEST_F(ReplicateDeathTest, ports_that_do_not_exist_or_are_named_twice_end_the_process) {
  io::PortRun run({"net_null0,size=64", "net_null1,no-rx=1"});
  const auto run_with = [&](const std::vector<net::PortGroup>& groups) {
    FloodAll function{groups};
    Worker worker(function, run.ports(), {});
    uint64_t polls = 0;
    worker.run_live(
        io::TickClock(1.0), [&] { return ++polls > 1; }, [](const WorkerCounters&) {});
  };
  EXPECT_DEATH(run_with({{.ports = ports({1, 2})}}), "ports_.size");
  EXPECT_DEATH(run_with({{.ports = ports({0, 1})}, {.ports = ports({1})}}), "empty");
  EXPECT_DEATH(run_with({{.ports = ports({1})}, {}}), "empty");
}

}  // namespace
}  // namespace roost::node
