// A batch does what its packets would do one by one: a packet finds what one before it has begun,
// and what moved when it began.
#include <random>

#include <array>

#include "tests/nat/test_nat.h"

namespace roost::nat {
namespace {

std::string text_of(const net::LaneVerdict& verdict) {
  if (verdict.is_forward()) return "forward " + std::to_string(verdict.out_port());
  if (verdict.is_drop()) return "drop " + std::to_string(static_cast<int>(verdict.drop_cause()));
  return verdict.is_consumed() ? "consumed" : "other";
}

// What has been sent to the outside: who may answer.
struct Talk {
  std::string external{};
  std::string remote{};
  uint16_t external_port = 0;
  uint16_t remote_port = 0;
  bool is_tcp = false;
};

class NatBatches : public NatTest {
 protected:
  // The second one gets packets one by one.
  void make_two(const std::string& toml) {
    make(toml);
    const std::vector<net::MacAddress> macs(2, {{2, 0, 0, 0, 0, 9}});
    auto state = State::create(config_, {.device_macs = macs});
    ASSERT_TRUE(state.ok()) << state.error().message;
    states_.push_back(std::make_unique<State>(std::move(state).value()));
    datapaths_.push_back(std::make_unique<Datapath>(*states_.back()));
  }

  size_t below(size_t bound) { return random_() % bound; }
  lb::PacketSpec from_host() {
    lb::PacketSpec spec{.source = "10.0.0." + std::to_string(10 + below(2)),
                        .destination = "198.51.100." + std::to_string(1 + below(40)),
                        .source_port = static_cast<uint16_t>(2'000 + below(120)),
                        .destination_port = static_cast<uint16_t>(80 + below(2))};
    if (below(12) == 0 && !talks_.empty()) {  // to another host inside, by its external end
      const Talk& talk = talks_[below(talks_.size())];
      spec.destination = talk.external;
      spec.destination_port = talk.external_port;
    }
    return with_protocol(spec, below(3) != 0);
  }
  lb::PacketSpec to_host() {
    const Talk& talk = talks_[below(talks_.size())];
    lb::PacketSpec spec{.source_mac = "02:00:00:00:02:fe",
                        .destination_mac = "02:00:00:00:00:02",
                        .source = talk.remote,
                        .destination = talk.external,
                        .source_port = talk.remote_port,
                        .destination_port = talk.external_port};
    if (below(8) == 0) spec.source_port = static_cast<uint16_t>(90 + below(3));
    return with_protocol(spec, talk.is_tcp);
  }
  lb::PacketSpec with_protocol(lb::PacketSpec spec, bool is_tcp) {
    constexpr std::array<uint8_t, 6> kFlags = {net::tcp::kSyn,
                                               net::tcp::kSyn,
                                               net::tcp::kAck,
                                               net::tcp::kAck,
                                               net::tcp::kFin | net::tcp::kAck,
                                               net::tcp::kRst};
    spec.protocol = is_tcp ? net::IpProtocol::kTcp : net::IpProtocol::kUdp;
    spec.tcp_flags = kFlags[below(kFlags.size())];
    return spec;
  }
  void remember(const lb::PacketSpec& spec, const net::Packet& packet) {
    Sent sent;
    sent.frame.assign(packet.data, packet.data + packet.total_bytes);
    const Talk talk{sent.source(), spec.destination, sent.source_port(), spec.destination_port,
                    spec.protocol == net::IpProtocol::kTcp};
    if (talks_.size() < 500) {
      talks_.push_back(talk);
    } else {
      talks_[below(talks_.size())] = talk;
    }
  }
  void send_batch(size_t count);

  std::mt19937_64 random_{1};
  std::vector<Talk> talks_{};
};

void NatBatches::send_batch(size_t count) {
  std::vector<lb::PacketSpec> specs;
  std::vector<BufferedPacket> together;
  std::vector<BufferedPacket> singly;
  net::PacketBatch batch;
  for (size_t i = 0; i < count; ++i) {
    const bool is_inside = talks_.empty() || below(2) == 0;
    specs.push_back(is_inside ? from_host() : to_host());
    // Now and then the same once more.
    if (i != 0 && below(6) == 0) specs[i] = specs[i - 1];
    const uint16_t in_port = specs[i].source.starts_with("10.") ? 0 : 1;
    const Frame frame = lb::make_frame(specs[i]);
    together.emplace_back(frame, in_port);
    singly.emplace_back(frame, in_port);
    batch.push(together.back().packet);
  }
  datapaths_[0]->process(batch, now_);
  for (size_t i = 0; i < count; ++i) {
    net::PacketBatch one;
    one.push(singly[i].packet);
    datapaths_[1]->process(one, now_);
    const net::Packet& expected = one.packets()[0];
    const net::Packet& packet = batch.packets()[i];
    ASSERT_EQ(text_of(batch.verdicts()[i]), text_of(one.verdicts()[0])) << i << " of " << count;
    ASSERT_TRUE(std::ranges::equal(std::span(packet.data, packet.total_bytes),
                                   std::span(expected.data, expected.total_bytes)))
        << i << " of " << count;
    if (one.verdicts()[0].is_forward() && expected.in_port == 0) remember(specs[i], expected);
  }
  ASSERT_EQ(take_own(0), take_own(1));
}

TEST_F(NatBatches, a_batch_does_what_its_packets_would_do_one_by_one) {
  // Full most of the time, so that what begins moves others, or takes their places.
  make_two(
      nat_toml("connections = 1500\nfiltering = \"address\"", "\"192.0.2.100\", \"192.0.2.101\""));
  for (int i = 0; i < 6'000 && !HasFatalFailure(); ++i) {
    send_batch(1 + below(net::kBatchLanesMax));
    if (i % 40 == 0) pass_seconds(1 + below(20));
  }
  const conntrack::FlowCounts counts = states_[0]->tracker().connections().counts();
  const conntrack::FlowCounts expected = states_[1]->tracker().connections().counts();
  EXPECT_GT(counts.created, 10'000U);
  EXPECT_GT(counts.evicted + counts.expired, 1'000U);
  EXPECT_EQ(counts.created, expected.created);
  EXPECT_EQ(counts.ended, expected.ended);
  EXPECT_EQ(counts.expired, expected.expired);
  EXPECT_EQ(counts.evicted, expected.evicted);
  for (const auto& counter : kTranslationCounters)
    EXPECT_EQ(states_[0]->counters().*counter.value, states_[1]->counters().*counter.value)
        << counter.name;
}

}  // namespace
}  // namespace roost::nat
