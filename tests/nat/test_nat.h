// A NAT of one worker or several for tests: what goes in and what comes out, frame by frame.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/nat/datapath/datapath.h"
#include "roost/io/eal.h"
#include "tests/io/port_run.h"
#include "tests/lb/test_icmp.h"
#include "tests/lb/test_packet.h"

namespace roost::nat {

using Frame = std::vector<uint8_t>;

inline const std::string kTestPorts = R"(
[[port]]
addresses = ["10.0.0.1/24", "2001:db8:1::1/64"]
mac = "02:00:00:00:00:01"
inside = true
[[port]]
addresses = ["192.0.2.1/24", "2001:db8:2::1/64"]
mac = "02:00:00:00:00:02"
mtu = 1400
[[neighbour]]
address = "10.0.0.10"
mac = "02:00:00:00:01:10"
[[neighbour]]
address = "10.0.0.11"
mac = "02:00:00:00:01:11"
[[neighbour]]
address = "192.0.2.254"
mac = "02:00:00:00:02:fe"
[[neighbour]]
address = "2001:db8:2::fe"
mac = "02:00:00:00:02:fe"
[[route]]
prefix = "0.0.0.0/0"
via = "192.0.2.254"
[[route]]
prefix = "2001:db8:9::/48"
via = "2001:db8:2::fe"
)";

inline std::string nat_toml(const std::string& keys = "",
                            const std::string& external = "\"192.0.2.100\"") {
  return "tick_seconds = 1\n[nat]\nhash_seed = 1\nexternal = [" + external + "]\n" + keys +
         "\n[timeouts]\ntcp_established = 900\n" + kTestPorts;
}

// A packet with room in front of its frame, which stays where it is when this moves.
struct BufferedPacket {
  static constexpr size_t kRoom = 128;

  BufferedPacket(const Frame& frame, uint16_t in_port) : room(frame.size() + kRoom) {
    std::ranges::copy(frame, room.begin() + kRoom);
    const auto bytes = static_cast<uint32_t>(frame.size());
    packet = {room.data() + kRoom, bytes, bytes, kRoom, in_port};
  }

  Frame room;
  net::Packet packet{};
};

// Whatever it is about, from inside or from outside.
struct Sent {
  net::LaneVerdict verdict{};
  Frame frame{};
  size_t handoffs = 0;

  [[nodiscard]] std::optional<net::DropCause> cause() const {
    return verdict.is_drop() ? std::optional(verdict.drop_cause()) : std::nullopt;
  }
  [[nodiscard]] std::string address(size_t offset) const {
    net::Ipv4Address address;
    std::copy_n(frame.begin() + static_cast<ptrdiff_t>(offset), 4, address.bytes.begin());
    return address.format();
  }
  [[nodiscard]] std::string source() const { return address(26); }
  [[nodiscard]] std::string destination() const { return address(30); }
  [[nodiscard]] uint16_t word(size_t offset) const {
    return static_cast<uint16_t>(frame[offset] << 8 | frame[offset + 1]);
  }
  [[nodiscard]] uint16_t source_port() const { return word(34); }
  [[nodiscard]] uint16_t destination_port() const { return word(36); }
};

class NatTest : public testing::Test {
 protected:
  void make(const std::string& toml, size_t worker_count = 1) {
    std::vector<std::string> arguments = io::eal_arguments({"net_null0"});
    arguments.insert(arguments.end(), {"-m", "512"});
    Result<io::Eal> eal = io::Eal::start(arguments);
    ASSERT_TRUE(eal.ok()) << eal.error().message;
    eal_.emplace(std::move(eal).value());
    ConfigOutcome outcome = parse_config(toml);
    ASSERT_TRUE(outcome.config.has_value()) << outcome.faults.front().text;
    config_ = *outcome.config;
    auto table = routing::RoutingTable::create(config_.network);
    ASSERT_TRUE(table.ok()) << table.error().message;
    config_.table = table.value();
    const std::vector<net::MacAddress> macs(2, {{2, 0, 0, 0, 0, 9}});
    for (size_t worker = 0; worker < worker_count; ++worker) {
      auto state = State::create(
          config_, {.worker = worker, .worker_count = worker_count, .device_macs = macs});
      ASSERT_TRUE(state.ok()) << state.error().message;
      states_.push_back(std::make_unique<State>(std::move(state).value()));
      datapaths_.push_back(std::make_unique<Datapath>(*states_.back()));
    }
  }

  // A frame through the worker that receives it, and those that it is handed off to.
  Sent send(const Frame& frame, uint16_t in_port, size_t worker = 0) {
    BufferedPacket buffered(frame, in_port);
    net::Packet& packet = buffered.packet;
    Sent sent;
    while (true) {
      net::PacketBatch batch;
      batch.push(packet);
      datapaths_[worker]->process(batch, now_);
      sent.verdict = batch.verdicts()[0];
      packet = batch.packets()[0];
      if (!sent.verdict.is_handoff()) break;
      EXPECT_NE(sent.verdict.owner(), worker);
      EXPECT_LE(++sent.handoffs, 2U);
      worker = sent.verdict.owner();
      packet.origin = net::PacketOrigin::kWorker;
    }
    sent.frame.assign(packet.data, packet.data + packet.total_bytes);
    return sent;
  }
  Sent from_inside(const lb::PacketSpec& spec, size_t worker = 0) {
    return send(lb::make_frame(spec), 0, worker);
  }
  Sent from_outside(lb::PacketSpec spec, size_t worker = 0) {
    spec.destination_mac = "02:00:00:00:00:02";
    spec.source_mac = "02:00:00:00:02:fe";
    return send(lb::make_frame(spec), 1, worker);
  }
  std::vector<Frame> take_own(size_t worker = 0) {
    net::Outbox& outbox = datapaths_[worker]->outbox();
    std::vector<Frame> frames;
    for (size_t i = 0; i < outbox.frame_count(); ++i) {
      const auto bytes = outbox.frame(i).bytes;
      frames.emplace_back(bytes.begin(), bytes.end());
    }
    outbox.clear();
    return frames;
  }
  void pass_seconds(uint64_t seconds) {
    for (uint64_t i = 0; i < seconds; ++i) {
      ++now_.count;
      for (const auto& datapath : datapaths_) {
        for (int turn = 0; turn < 64; ++turn) datapath->idle(now_, 4'096);
      }
    }
  }
  void TearDown() override {
    for (const auto& state : states_) {
      state->tracker().connections().settle();
      EXPECT_TRUE(state->audit());
    }
  }

  std::optional<io::Eal> eal_;
  Config config_;
  Tick now_{1};
  std::vector<std::unique_ptr<State>> states_;
  std::vector<std::unique_ptr<Datapath>> datapaths_;
};

}  // namespace roost::nat
