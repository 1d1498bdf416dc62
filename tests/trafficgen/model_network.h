// What stands between the generator's ports in tests: a balancer that translates the destination to
// one of its backends, and the source back, after a fixed time; and does as it is told.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/trafficgen/datapath/generator.h"
#include "roost/net/flow_key.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"

namespace roost::trafficgen {

// Room for one frame at a time.
class TestRoom final : public FrameRoom {
 public:
  std::span<uint8_t> room(uint16_t, size_t wanted) override {
    if (is_full()) return {};
    bytes.assign(wanted, 0xee);
    return bytes;
  }
  std::function<bool()> is_full = [] { return false; };
  std::vector<uint8_t> bytes;
};

class ModelNetwork {
 public:
  struct Frame {
    std::vector<uint8_t> bytes;
    uint16_t in_port = 0;
    uint64_t number = 0;  // counted in this network
  };
  // Copies of a frame that go on: 1, or 0 to lose it, or 2.
  std::function<unsigned(const Frame&)> copies = [](const Frame&) { return 1U; };
  // The backend of a client's packet: the last byte of its address.
  std::function<uint8_t(const Frame&)> backend = [](const Frame&) { return uint8_t{11}; };
  // When it leaves.
  std::function<uint64_t(uint64_t now)> leaves_at = [](uint64_t now) { return now + 5'000; };
  bool translates = true;

  std::vector<Frame> seen;  // all, in their order
  bool keeps_frames = false;

  // Sends all that the generator has due, and gives it what arrives by `now`.
  void turn(Generator& generator, uint64_t now) {
    TestRoom room;
    while (const auto made = generator.make_next(now, room))
      take({room.bytes, made->port, count_++}, now);
    deliver(generator, now);
  }

 private:
  struct OnItsWay {
    uint64_t at = 0;
    Frame frame;
  };

  void take(const Frame& frame, uint64_t now) {
    if (keeps_frames) seen.push_back(frame);
    for (unsigned copy = copies(frame); copy > 0; --copy)
      on_their_way_.push_back({leaves_at(now), frame});
  }

  void deliver(Generator& generator, uint64_t now) {
    while (!on_their_way_.empty() && on_their_way_.front().at <= now) {
      OnItsWay next = std::move(on_their_way_.front());
      on_their_way_.pop_front();
      std::vector<uint8_t>& bytes = next.frame.bytes;
      net::Packet packet{.data = bytes.data(),
                         .contiguous_bytes = static_cast<uint32_t>(bytes.size()),
                         .total_bytes = static_cast<uint32_t>(bytes.size()),
                         .in_port = static_cast<uint16_t>(1 - next.frame.in_port)};
      net::ParsedPacket parsed;
      ASSERT_EQ(net::parse(packet, parsed), net::ParseVerdict::kOk);
      if (translates) translate(packet, parsed, next.frame);
      generator.receive(packet, now);
      ASSERT_TRUE(generator.outbox().is_empty());
    }
  }

  void translate(net::Packet& packet, net::ParsedPacket& parsed, const Frame& frame) {
    if (parsed.is_ipv6) {
      translate_to(packet, parsed, frame, net::Ipv6Address{{0x20, 1, 0x0d, 0xb8, 0, 2}});
    } else {
      translate_to(packet, parsed, frame, net::Ipv4Address{{10, 0, 0, 0}});
    }
  }
  template <class Address>
  void translate_to(net::Packet& packet, net::ParsedPacket& parsed, const Frame& frame,
                    Address to) {
    using Key = net::FlowKey<Address>;
    const Key key = Key::from_packet(packet, parsed);
    if (frame.in_port == 0) {
      to.bytes.back() = backend(frame);
      virtual_end_[is_ipv6(to)] = {net::IpAddress(key.destination), key.destination_port};
      net::rewrite_destination(packet, parsed, net::Endpoint<Address>{to, 8'080});
    } else {
      const auto& [address, port] = virtual_end_[is_ipv6(to)];
      net::rewrite_source(packet, parsed,
                          net::Endpoint<Address>{address.template to<Address>(), port});
    }
  }
  static constexpr bool is_ipv6(const net::Ipv4Address&) { return false; }
  static constexpr bool is_ipv6(const net::Ipv6Address&) { return true; }

  std::deque<OnItsWay> on_their_way_;
  std::map<bool, std::pair<net::IpAddress, uint16_t>> virtual_end_;  // of one service a family
  uint64_t count_ = 0;
};

}  // namespace roost::trafficgen
