// A firewall as a wire, for tests: frames in, what became of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/firewall/datapath/datapath.h"
#include "tests/lb/test_packet.h"

namespace roost::firewall {

using Bytes = std::vector<uint8_t>;

// A batch of frames that came by one port, and what became of them: "pass", the cause of a drop,
// "kept", or "of worker 1".
inline std::vector<std::string> send_through(Datapath& datapath, const std::vector<Bytes>& frames,
                                             uint16_t in_port, Tick now) {
  constexpr uint32_t kHeadroom = 128;
  std::vector<Bytes> rooms;
  net::PacketBatch batch;
  for (const Bytes& frame : frames) {
    rooms.emplace_back(frame.size() + kHeadroom);
    std::ranges::copy(frame, rooms.back().begin() + kHeadroom);
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    const auto bytes = static_cast<uint32_t>(frames[i].size());
    batch.push({rooms[i].data() + kHeadroom, bytes, bytes, kHeadroom, in_port});
  }
  datapath.process(batch, now);
  std::vector<std::string> fates;
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    const net::LaneVerdict& verdict = batch.verdicts()[lane];
    if (verdict.is_forward()) {
      EXPECT_EQ(verdict.out_port(), in_port == 0 ? 1 : 0);
      fates.emplace_back("pass");
    } else if (verdict.is_drop()) {
      fates.emplace_back(net::drop_cause_name(kFirewallDropCauses, verdict.drop_cause()));
    } else {
      fates.push_back(verdict.is_consumed() ? std::string("kept")
                                            : "of worker " + std::to_string(verdict.owner()));
    }
  }
  return fates;
}

// What a firewall made itself since it was asked last.
inline std::vector<Bytes> take_own(Datapath& datapath) {
  std::vector<Bytes> frames;
  for (size_t i = 0; i < datapath.outbox().frame_count(); ++i) {
    const std::span<const uint8_t> bytes = datapath.outbox().frame(i).bytes;
    frames.emplace_back(bytes.begin(), bytes.end());
  }
  datapath.outbox().clear();
  return frames;
}

class WireBench {
 public:
  static constexpr std::string_view kPorts = "[[port]]\n[[port]]\n";

  // `toml`: all but ports and what makes it a wire.
  explicit WireBench(const std::string& firewall, const std::string& rules = "") {
    ConfigOutcome outcome = parse_config("[firewall]\nwire = true\nhash_seed = 7\n" + firewall +
                                         std::string(kPorts) + rules);
    for (const config::Fault& fault : outcome.faults) {
      ADD_FAILURE() << config::describe(fault, "toml");
    }
    config_ = std::move(outcome.config).value_or(Config{});
    const std::vector<net::MacAddress> macs(2, {{2, 0, 0, 0, 0, 9}});
    auto state = State::create(config_, macs);
    EXPECT_TRUE(state.ok()) << (state.ok() ? "" : state.error().message);
    state_ = std::make_unique<State>(std::move(state).value());
    datapath_ = std::make_unique<Datapath>(*state_);
  }

  // Of a batch of frames that came by one port.
  std::vector<std::string> send(const std::vector<Bytes>& frames, uint16_t in_port = 0) {
    return send_through(*datapath_, frames, in_port, now);
  }
  std::string send(const Bytes& frame, uint16_t in_port = 0) {
    return send(std::vector<Bytes>{frame}, in_port).front();
  }
  std::string send(const lb::PacketSpec& packet, uint16_t in_port = 0) {
    return send(lb::make_frame(packet), in_port);
  }
  std::vector<Bytes> take_own() { return firewall::take_own(*datapath_); }

  [[nodiscard]] State& state() { return *state_; }
  [[nodiscard]] Datapath& datapath() { return *datapath_; }
  [[nodiscard]] const Config& config() const { return config_; }

  Tick now{1};

 private:
  Config config_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Datapath> datapath_;
};

// The same ends the other way round.
inline lb::PacketSpec answer_to(lb::PacketSpec packet, uint8_t tcp_flags = 0) {
  std::swap(packet.source, packet.destination);
  std::swap(packet.source_port, packet.destination_port);
  packet.tcp_flags = tcp_flags;
  return packet;
}

// A handshake through the firewall, after which the connection is assured.
inline void connect_through(WireBench& bench, lb::PacketSpec syn) {
  namespace flags = net::tcp;
  syn.payload = "";
  syn.tcp_flags = flags::kSyn;
  EXPECT_EQ(bench.send(syn), "pass");
  EXPECT_EQ(bench.send(answer_to(syn, flags::kSyn | flags::kAck), 1), "pass");
  syn.tcp_flags = flags::kAck;
  ++syn.sequence;
  ++syn.acknowledgement;
  EXPECT_EQ(bench.send(syn), "pass");
}

}  // namespace roost::firewall
