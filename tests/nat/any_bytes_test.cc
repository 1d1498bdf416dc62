// Frames of any bytes, and right ones with some bytes changed, from both sides to both workers:
// every lane is decided, and what mappings and connections say of each other holds.
#include <random>

#include <array>

#include "tests/base/step_count.h"
#include "tests/nat/test_nat.h"

namespace roost::nat {
namespace {

lb::PacketSpec random_spec(std::mt19937_64& random, bool is_inside) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const std::string host = "10.0.0." + std::to_string(9 + below(4));
  const std::string external = "192.0.2.10" + std::to_string(below(3));
  const std::string remote = "198.51.100." + std::to_string(1 + below(3));
  lb::PacketSpec spec;
  spec.source = is_inside ? host : remote;
  spec.destination = is_inside && below(3) != 0 ? remote : external;
  spec.source_port = static_cast<uint16_t>(5'000 + below(6));
  spec.destination_port = static_cast<uint16_t>(below(2) == 0 ? 2'000 + below(16) : 53);
  if (below(2) == 0) spec.protocol = net::IpProtocol::kUdp;
  constexpr std::array<uint8_t, 5> kFlags = {net::tcp::kSyn, net::tcp::kAck, net::tcp::kFin,
                                             net::tcp::kRst, net::tcp::kSyn | net::tcp::kAck};
  spec.tcp_flags = kFlags[below(kFlags.size())];
  if (!is_inside) spec.destination_mac = "02:00:00:00:00:02";
  return spec;
}

Frame random_nat_frame(std::mt19937_64& random, bool is_inside) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto spec = random_spec(random, is_inside);
  Frame frame = lb::make_frame(spec);
  if (below(4) == 0) {  // an error about something
    const lb::IcmpSpec error{.destination_mac = spec.destination_mac,
                             .source = spec.source,
                             .destination = spec.destination};
    frame = lb::make_icmp_error(error, lb::make_frame(random_spec(random, !is_inside)), 28);
  }
  if (below(8) == 0) {  // echo, fragments, another protocol
    frame[23] = static_cast<uint8_t>(below(2) == 0 ? 1 : below(256));
    frame[20] = static_cast<uint8_t>(below(2) == 0 ? 0x20 : 0);
    frame[21] = static_cast<uint8_t>(below(3));
    lb::fix_ipv4_checksum(frame);
  }
  for (size_t i = below(4) == 0 ? below(6) : 0; i > 0; --i) {
    frame[12 + below(frame.size() - 12)] = static_cast<uint8_t>(random());
  }
  if (below(16) == 0) frame.resize(below(frame.size()) + 1);
  return frame;
}

TEST_F(NatTest, any_bytes_are_decided_and_leave_everything_whole) {
  make(nat_toml("ports = [2000, 2015]\nconnections = 64\nfiltering = \"address\"",
                "\"192.0.2.100\", \"192.0.2.101\"") +
           "[[forward]]\nprotocol = \"udp\"\nexternal = \"192.0.2.101:2003\"\ninside = "
           "\"10.0.0.10:5001\"\n",
       2);
  std::mt19937_64 random(4'787);
  uint64_t forwarded = 0;
  for (uint64_t i = 0; i < step_count(60'000); ++i) {
    const bool is_inside = random() % 2 == 0;
    const size_t worker = random() % 2;
    const Sent sent = send(random_nat_frame(random, is_inside), is_inside ? 0 : 1, worker);
    ASSERT_NE(sent.cause(), net::DropCause::kUndecided);
    if (sent.verdict.is_forward()) ++forwarded;
    for (size_t one = 0; one < 2; ++one) take_own(one);
    if (i % 1'000 == 0) pass_seconds(random() % 20);
    if (i % 4'000 != 0) continue;
    for (const auto& state : states_) {
      state->tracker().connections().settle();
      ASSERT_TRUE(state->audit());
    }
  }
  EXPECT_GT(forwarded, step_count(5'000));
  uint64_t refused = 0;
  for (const auto& state : states_) refused += state->held().mappings.counters().refused_no_port;
  EXPECT_GT(refused, step_count(10));
}

}  // namespace
}  // namespace roost::nat
