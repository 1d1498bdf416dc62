// Real DPDK ports over virtual devices: what goes in comes out, and every packet and buffer is
// accounted for.
#include "roost/io/port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::io {
namespace {

constexpr uint64_t kRingRoom = 1023;  // packets that a net_ring device takes before it refuses

class PortTest : public testing::Test {
 protected:
  [[nodiscard]] std::string replay_device() const {
    return "net_pcap0,rx_pcap=" + in_ + ",tx_pcap=" + back_;
  }
  [[nodiscard]] std::string output_device() const { return "net_pcap1,tx_pcap=" + out_; }

  // Sends everything that port 0 replays out of port 1.
  static void replay(PortRun& run, uint64_t packet_count) {
    CaptureMerge merge = run.merge({packet_count}, kSecond);
    PacketBurst burst;
    while (merge.next(burst)) forward_all(burst, run.ports()[1]);
  }

  TemporaryDirectory directory_;
  std::string in_ = directory_.file("in.pcap");
  std::string out_ = directory_.file("out.pcap");
  std::string back_ = directory_.file("back.pcap");
};

void expect_same_bytes(const std::vector<Frame>& sent, const std::vector<Frame>& received) {
  ASSERT_EQ(sent.size(), received.size());
  for (size_t i = 0; i < sent.size(); ++i)
    ASSERT_EQ(sent[i].bytes, received[i].bytes) << "frame " << i;
}

TEST_F(PortTest, a_capture_passes_through_two_ports_byte_by_byte) {
  std::mt19937 random(1);
  std::vector<Frame> frames;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < 1000; ++i) {
    frames.push_back({kSecond + uint64_t{10} * i, numbered_frame(i, 14 + random() % 1501)});
    bytes += frames.back().bytes.size();
  }
  write_capture(in_, frames);
  PortRun run({replay_device(), output_device()});
  replay(run, frames.size());
  EXPECT_EQ(run.ports()[0].counters().received, 1000u);
  EXPECT_EQ(run.ports()[0].counters().received_bytes, bytes);
  EXPECT_EQ(run.ports()[1].counters().sent, 1000u);
  EXPECT_EQ(run.ports()[1].counters().sent_bytes, bytes);
  EXPECT_EQ(run.ports()[1].counters().refused, 0u);
  EXPECT_TRUE(run.pool().audit());
  run.close_ports();
  expect_same_bytes(frames, read_capture(out_));
  EXPECT_TRUE(read_capture(back_).empty());
}

TEST_F(PortTest, frames_larger_than_a_buffer_pass_in_chains) {
  std::vector<Frame> frames;
  for (const size_t bytes : {2047u, 2048u, 2049u, 4096u, 4097u, 9000u}) {
    frames.push_back({kSecond, numbered_frame(static_cast<uint32_t>(bytes), bytes)});
  }
  write_capture(in_, frames);
  PortRun run({replay_device(), output_device()}, {.data_room_bytes = 2048});
  CaptureMerge merge = run.merge({frames.size()}, kSecond);
  PacketBurst burst;
  ASSERT_TRUE(merge.next(burst));
  ASSERT_EQ(burst.batch().lane_count(), frames.size());
  for (size_t lane = 0; lane < frames.size(); ++lane) {
    const net::Packet& packet = burst.batch().packets()[lane];
    EXPECT_EQ(packet.total_bytes, frames[lane].bytes.size());
    EXPECT_EQ(packet.contiguous_bytes, std::min<size_t>(2048, frames[lane].bytes.size()));
  }
  forward_all(burst, run.ports()[1]);
  EXPECT_TRUE(run.pool().audit());
  run.close_ports();
  expect_same_bytes(frames, read_capture(out_));
}

TEST_F(PortTest, a_frame_of_our_own_is_sent_whole_whatever_its_length) {
  std::vector<Frame> frames;
  for (const size_t bytes : {42u, 60u, 1514u, 2048u, 2049u, 9014u}) {
    frames.push_back({kSecond, numbered_frame(static_cast<uint32_t>(bytes), bytes)});
  }
  PortRun run({output_device()});
  uint64_t bytes_sent = 0;
  for (const Frame& frame : frames) {
    run.ports()[0].queue().send(frame.bytes);
    bytes_sent += frame.bytes.size();
  }
  EXPECT_EQ(run.ports()[0].counters().sent, frames.size());
  EXPECT_EQ(run.ports()[0].counters().sent_bytes, bytes_sent);
  EXPECT_TRUE(run.pool().audit());
  run.close_ports();
  expect_same_bytes(frames, read_capture(out_));
}

TEST_F(PortTest, a_frame_of_our_own_that_finds_no_buffer_is_counted) {
  // A ring keeps the buffers that it is sent.
  const std::vector<uint8_t> small = numbered_frame(1, 60);
  PortRun run({"net_ring0"}, {.buffer_count = 600});
  for (size_t i = 0; i < 598; ++i) run.ports()[0].queue().send(small);
  run.ports()[0].queue().send(numbered_frame(2, 5000));  // needs three, there are two
  EXPECT_EQ(run.ports()[0].counters().no_buffer, 1u);
  for (size_t i = 0; i < 4; ++i) run.ports()[0].queue().send(small);
  EXPECT_EQ(run.ports()[0].counters().sent, 600u);
  EXPECT_EQ(run.ports()[0].counters().no_buffer, 3u);
  EXPECT_EQ(run.ports()[0].counters().refused, 0u);
  EXPECT_EQ(run.pool().in_use_count(), 600u);
}

TEST_F(PortTest, a_frame_of_our_own_that_the_device_refuses_is_freed_and_counted) {
  PortRun run({"net_ring0"});
  for (size_t i = 0; i < kRingRoom + 5; ++i) run.ports()[0].queue().send(numbered_frame(1, 60));
  EXPECT_EQ(run.ports()[0].counters().sent, kRingRoom);
  EXPECT_EQ(run.ports()[0].counters().refused, 5u);
  EXPECT_EQ(run.pool().in_use_count(), kRingRoom);
}

// Moves the start of the frame by `byte_count` bytes, as a popped (positive) or pushed (negative)
// VLAN tag does.
void move_data(net::Packet& packet, int byte_count) {
  packet.data += byte_count;
  packet.contiguous_bytes =
      static_cast<uint32_t>(static_cast<int>(packet.contiguous_bytes) - byte_count);
  packet.total_bytes = static_cast<uint32_t>(static_cast<int>(packet.total_bytes) - byte_count);
  packet.headroom = static_cast<uint32_t>(static_cast<int>(packet.headroom) + byte_count);
}

TEST_F(PortTest, a_moved_start_changes_the_frame_and_its_length_chained_or_not) {
  const std::vector<Frame> frames = {{kSecond, numbered_frame(1, 64)},
                                     {kSecond, numbered_frame(2, 64)},
                                     {kSecond, numbered_frame(3, 5000)},
                                     {kSecond, numbered_frame(4, 5000)}};
  write_capture(in_, frames);
  PortRun run({replay_device(), output_device()}, {.data_room_bytes = 2048});
  CaptureMerge merge = run.merge({frames.size()}, kSecond);
  PacketBurst burst;
  ASSERT_TRUE(merge.next(burst));
  ASSERT_EQ(burst.batch().lane_count(), 4u);
  const std::span<net::Packet> packets = burst.batch().packets();
  ASSERT_GE(packets[1].headroom, 8u);
  std::vector<Frame> expected = frames;
  for (const size_t lane : {size_t{0}, size_t{2}}) {
    move_data(packets[lane], 4);
    expected[lane].bytes.erase(expected[lane].bytes.begin(), expected[lane].bytes.begin() + 4);
  }
  for (const size_t lane : {size_t{1}, size_t{3}}) {
    move_data(packets[lane], -8);
    std::fill_n(packets[lane].data, 8, uint8_t{0xab});
    expected[lane].bytes.insert(expected[lane].bytes.begin(), 8, uint8_t{0xab});
  }
  forward_all(burst, run.ports()[1]);
  EXPECT_EQ(run.ports()[1].counters().sent_bytes, 60u + 72u + 4996u + 5008u);
  EXPECT_TRUE(run.pool().audit());
  run.close_ports();
  expect_same_bytes(expected, read_capture(out_));
}

TEST_F(PortTest, a_frame_whose_lengths_contradict_each_other_never_reaches_the_worker) {
  // net_pcap chains only the low 16 bits of a length.
  const std::vector<Frame> frames = {{kSecond, numbered_frame(1, 100)},
                                     {kSecond, numbered_frame(2, 70'000)},
                                     {kSecond, numbered_frame(3, 100)}};
  write_capture(in_, frames);
  PortRun run({replay_device(), output_device()});
  CaptureMerge merge = run.merge({3}, kSecond);
  PacketBurst burst;
  while (merge.next(burst)) forward_all(burst, run.ports()[1]);
  EXPECT_EQ(run.ports()[0].counters().received, 2u);
  EXPECT_EQ(run.ports()[0].counters().malformed, 1u);
  EXPECT_EQ(merge.report(0).delivered, 2u);
  EXPECT_EQ(merge.report(0).lost, 1u);
  EXPECT_EQ(merge.report(0).missing, 0u);
  EXPECT_TRUE(run.pool().audit());
}

TEST_F(PortTest, refused_transmits_are_counted_and_freed) {
  const uint64_t packet_count = kRingRoom + 77;
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < packet_count; ++i) frames.push_back({kSecond, numbered_frame(i, 60)});
  write_capture(in_, frames);
  PortRun run({replay_device(), "net_ring0"}, {.buffer_count = 4096});
  replay(run, packet_count);
  Port& ring = run.ports()[1];
  EXPECT_EQ(ring.counters().sent, kRingRoom);
  EXPECT_EQ(ring.counters().sent_bytes, kRingRoom * 60);
  EXPECT_EQ(ring.counters().refused, 77u);
  EXPECT_EQ(run.pool().in_use_count(), kRingRoom);

  // What the ring took comes back in order, and then nothing is missing from the pool.
  PacketBurst burst;
  uint32_t next = 0;
  while (ring.queue().receive(burst, net::kBatchLanesMax) != 0) {
    for (const net::Packet& packet : burst.batch().packets())
      EXPECT_EQ(frame_number(packet.data), next++);
    burst.clear();
  }
  EXPECT_EQ(next, kRingRoom);
  EXPECT_TRUE(run.pool().audit());
}

TEST_F(PortTest, receive_takes_no_more_than_asked_and_no_more_than_the_burst_holds) {
  PortRun run({"net_null0,size=64"});
  Port& port = run.ports()[0];
  PacketBurst burst;
  EXPECT_EQ(port.queue().receive(burst, 5), 5u);
  EXPECT_EQ(port.queue().receive(burst, net::kBatchLanesMax), net::kBatchLanesMax - 5);
  EXPECT_EQ(port.queue().receive(burst, net::kBatchLanesMax), 0u);
  EXPECT_EQ(port.counters().received, net::kBatchLanesMax);
  EXPECT_EQ(run.pool().in_use_count(), net::kBatchLanesMax);
  burst.clear();
  EXPECT_TRUE(run.pool().audit());
}

TEST_F(PortTest, each_lane_leaves_by_its_own_port_and_dropped_lanes_by_none) {
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < 30; ++i) frames.push_back({kSecond, numbered_frame(i, 60)});
  write_capture(in_, frames);
  PortRun run({replay_device(), output_device()});
  CaptureMerge merge = run.merge({30}, kSecond);
  PacketBurst burst;
  ASSERT_TRUE(merge.next(burst));
  const std::span<net::LaneVerdict> verdicts = burst.batch().verdicts();
  for (uint16_t lane = 0; lane < 30; ++lane) {
    if (lane % 3 != 2) verdicts[lane] = net::LaneVerdict::forward(static_cast<uint16_t>(lane % 3));
  }
  for (Port& port : run.ports()) port.queue().transmit(burst);
  EXPECT_EQ(run.pool().in_use_count(), 10u);
  burst.clear();
  EXPECT_TRUE(run.pool().audit());
  run.close_ports();
  const std::vector<Frame> back = read_capture(back_);
  const std::vector<Frame> out = read_capture(out_);
  ASSERT_EQ(back.size(), 10u);
  ASSERT_EQ(out.size(), 10u);
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(frame_number(back[i].bytes.data()), 3 * i);
    EXPECT_EQ(frame_number(out[i].bytes.data()), 3 * i + 1);
  }
}

TEST_F(PortTest, a_configured_mac_and_mtu_are_kept_when_the_device_cannot_take_them) {
  const Eal eal = Eal::start(eal_arguments({"net_pcap0,tx_pcap=" + out_})).value();
  const BufferPool pool = BufferPool::create({}).value();
  const net::MacAddress mac{{2, 0, 0, 0, 0, 9}};
  const Result<Port> port = Port::create({.id = 0, .mac = mac, .mtu = 9000}, pool);
  ASSERT_TRUE(port.ok()) << port.error().message;
  EXPECT_EQ(port.value().mac(), mac);
  EXPECT_EQ(port.value().device_name(), "net_pcap0");
  const Result<Port> second = Port::create({.id = 1}, pool);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("DPDK has no port 1"), std::string::npos);
}

using PortDeathTest = PortTest;

TEST_F(PortDeathTest, lengths_that_contradict_the_moved_data_pointer_end_the_process) {
  PortRun run({"net_null0,size=64"});
  PacketBurst burst;
  ASSERT_EQ(run.ports()[0].queue().receive(burst, 1), 1u);
  burst.batch().packets()[0].data += 4;
  EXPECT_DEATH(forward_all(burst, run.ports()[0]), "contiguous_bytes");
}

}  // namespace
}  // namespace roost::io
