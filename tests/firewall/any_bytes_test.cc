// Any bytes as batches of frames from both ends of a wire, while time goes on: each is decided
// once, what passes is as it came, and counts close. Frames are packets of a few connections,
// fragments, echo and ICMP errors of them, half of them with some bytes changed, and noise.
#include <fmt/format.h>

#include <random>

#include "apps/firewall/control/report.h"
#include "tests/base/step_count.h"
#include "tests/firewall/wire_bench.h"
#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_fragments.h"
#include "tests/lb/test_icmp.h"

namespace roost::firewall {
namespace {

using lb::make_frame;
using lb::PacketSpec;

const std::string kRules =
    "[[rule]]\nfrom = [\"192.0.2.3\"]\naction = \"reject\"\nlog = true\n"
    "[[rule]]\nfrom = [\"port 0\"]\nprotocol = \"tcp\"\nports = [\"80-82\"]\naction = \"allow\"\n"
    "[[rule]]\nprotocol = \"udp\"\nto = [\"198.51.100.0/24\", \"2001:db8::/32\"]\n"
    "action = \"allow\"\n"
    "[[rule]]\nprotocol = \"icmp\"\naction = \"allow\"\n"
    "[[rule]]\nprotocol = \"47\"\naction = \"allow\"\n";

class Frames {
 public:
  explicit Frames(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t n) { return random_() % n; }

  Bytes next() {
    if (below(20) == 0) {
      Bytes noise(below(200));
      for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random_());
      return noise;
    }
    Bytes frame = right();
    if (below(2) == 0) {
      for (uint64_t left = 1 + below(3); left > 0; --left) {
        frame[below(std::min<size_t>(frame.size(), 80))] = static_cast<uint8_t>(random_());
      }
      if (below(4) == 0) frame.resize(below(frame.size()) + 1);
      if (below(2) == 0 && frame.size() > 40) lb::fix_ipv4_checksum(frame);
    }
    return frame;
  }

 private:
  PacketSpec spec(bool is_ipv6) {
    PacketSpec packet{.source = fmt::format(fmt::runtime(is_ipv6 ? "2001:db8:1::{}" : "192.0.2.{}"),
                                            1 + below(4)),
                      .destination = is_ipv6 ? "2001:db8:2::80" : "198.51.100.80",
                      .source_port = static_cast<uint16_t>(40'000 + below(4)),
                      .destination_port = static_cast<uint16_t>(79 + below(5)),
                      .protocol = below(2) == 0 ? net::IpProtocol::kUdp : net::IpProtocol::kTcp,
                      .tcp_flags = static_cast<uint8_t>(random_()),
                      .payload = std::string(below(64), 'x')};
    if (below(2) == 0) packet = answer_to(packet, static_cast<uint8_t>(random_()));
    return packet;
  }
  Bytes right() {
    const bool is_ipv6 = below(3) == 0;
    const PacketSpec packet = spec(is_ipv6);
    switch (below(6)) {
      case 0: {
        const lb::FragmentFamily& family = is_ipv6 ? lb::kFragments6 : lb::kFragments4;
        const auto parts = lb::fragments_of(family, lb::query(family, 100 + below(400)),
                                            static_cast<uint16_t>(below(8)), random_);
        return parts[below(parts.size())];
      }
      case 1:
        if (!is_ipv6) {
          return lb::make_icmp_error({.source = "203.0.113.9",
                                      .destination = packet.source,
                                      .type = static_cast<uint8_t>(3 + below(10))},
                                     make_frame(packet), 28);
        }
        [[fallthrough]];
      case 2: {
        Bytes frame = make_frame(packet);
        constexpr std::array<uint8_t, 5> kProtocols = {1, 58, 47, 132, 0};
        frame[is_ipv6 ? 20 : 23] = kProtocols[below(5)];
        if (!is_ipv6) lb::fix_ipv4_checksum(frame);
        return frame;
      }
      default:
        return make_frame(packet);
    }
  }

  std::mt19937_64 random_;
};

// Sends batches, each frame with what it was, and checks what became of them.
void send_all(WireBench& bench, Frames& frames, size_t batches) {
  node::RunTotals run;
  run.ports.resize(2);
  const uint64_t headroom = 128;
  for (size_t i = 0; i < batches; ++i) {
    std::vector<Bytes> before;
    std::vector<Bytes> rooms;
    for (uint64_t left = 1 + frames.below(net::kBatchLanesMax); left > 0; --left) {
      before.push_back(frames.next());
      rooms.emplace_back(headroom);
      rooms.back().insert(rooms.back().end(), before.back().begin(), before.back().end());
    }
    net::PacketBatch batch;
    for (size_t lane = 0; lane < before.size(); ++lane) {
      const auto bytes = static_cast<uint32_t>(before[lane].size());
      batch.push({.data = rooms[lane].data() + headroom,
                  .contiguous_bytes = bytes,
                  .total_bytes = bytes,
                  .headroom = static_cast<uint32_t>(headroom),
                  .in_port = static_cast<uint16_t>(frames.below(2))});
    }
    bench.datapath().process(batch, bench.now);
    run.ports[0].received += batch.lane_count();
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const net::LaneVerdict& verdict = batch.verdicts()[lane];
      const net::Packet& packet = batch.packets()[lane];
      if (verdict.is_forward()) {
        ASSERT_EQ(verdict.out_port(), packet.in_port == 0 ? 1 : 0);
        ASSERT_TRUE(std::ranges::equal(std::span(packet.data, packet.total_bytes), before[lane]));
        ++run.ports[0].sent;
      } else if (verdict.is_drop()) {
        ASSERT_FALSE(net::drop_cause_name(kFirewallDropCauses, verdict.drop_cause()).empty());
        ASSERT_NE(verdict.drop_cause(), net::DropCause::kUndecided);
        ++run.drops[verdict.drop_cause()];
      } else {
        ASSERT_TRUE(verdict.is_consumed());
        ++run.consumed;
      }
    }
    const size_t own = bench.take_own().size();
    run.originated += own;
    run.ports[0].sent += own;
    if (frames.below(4) == 0) bench.now.count += frames.below(20);
    if (frames.below(4) == 0) bench.datapath().idle(bench.now, 1 + frames.below(64));
  }
  bench.state().tracker().settle();
  EXPECT_TRUE(bench.state().tracker().audit());
  const FilterCounters& counters = bench.state().filter_counters();
  uint64_t decided = 0;
  for (const acl::RuleSet::Counts& counts : bench.state().rules().counts())
    decided += counts.packets;
  EXPECT_GE(decided, counters.begun + counters.without_connection);
  EXPECT_EQ(broken_sums(make_report(std::array{&bench.state()}, std::move(run))),
            std::vector<std::string>());
}

TEST(FirewallBytes, each_frame_is_decided_once_passes_as_it_came_and_counts_close) {
  const size_t batches = step_count(3'000);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Frames frames(seed);
    WireBench stateful("connections = 24\nlog_per_second = 3\n", kRules);
    send_all(stateful, frames, batches);
    EXPECT_GT(stateful.state().filter_counters().related, 0U);
    EXPECT_GT(stateful.state().filter_counters().established, 0U);
    EXPECT_GT(stateful.state().tracker().fragment_report().counters.released, 0U);
    WireBench stateless("stateful = false\npass_other_ethertypes = true\n", kRules);
    send_all(stateless, frames, batches);
    EXPECT_GT(stateless.state().filter_counters().without_connection, 0U);
    WireBench strict("connections = 1\npick_up = false\nwithout_rule = \"reject\"\n", kRules);
    send_all(strict, frames, batches / 4);
  }
}

}  // namespace
}  // namespace roost::firewall
