// The generator against a network that loses, repeats and moves what the test says: its report must
// say the same, packet by packet.
#include "apps/trafficgen/datapath/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "roost/net/arp.h"
#include "roost/net/l4_checksum.h"
#include "tests/trafficgen/model_network.h"
#include "tests/trafficgen/settings.h"

namespace roost::trafficgen {
namespace {

constexpr uint64_t kTurn = 1'000;  // nanoseconds
constexpr uint64_t kSecond = 1'000'000'000;

Config config_of(const std::string& more) {
  const ConfigOutcome outcome = parse_config(settings_with(more));
  EXPECT_TRUE(outcome.config) << outcome.faults.front().text;
  return *outcome.config;
}

Generator generator_of(const std::string& more) {
  return Generator::create(config_of(more), 1).value();
}

void run(Generator& generator, ModelNetwork& network, uint64_t turn = kTurn) {
  uint64_t now = 0;
  for (; !generator.is_over(now); now += turn) network.turn(generator, now);
  for (const uint64_t end = now + kSecond; now < end; now += kTurn) network.turn(generator, now);
  generator.finish();
}

void check_sums(const PacketStats& stats) {
  const PacketCounts counts = stats.counts();
  EXPECT_EQ(counts.sent(), counts.returned + counts.lost());
  PacketCounts by_second;
  for (const SecondSummary& second : stats.seconds()) by_second += second.counts;
  EXPECT_EQ(by_second.offered, counts.offered);
  EXPECT_EQ(by_second.returned, counts.returned);
  EXPECT_EQ(by_second.lost(), counts.lost());
}

TEST(Generator, counts_what_comes_back) {
  Generator generator = generator_of(kOneStep);
  ModelNetwork network;
  run(generator, network);
  const PacketCounts counts = generator.stats().counts();
  EXPECT_EQ(counts.offered, 50'000U);
  EXPECT_EQ(counts.returned, 50'000U);
  EXPECT_EQ(counts.late, 0U);
  check_sums(generator.stats());
  const ArrivalCounts& arrivals = generator.stats().arrivals();
  for (const auto& counter : kArrivalCounters) EXPECT_EQ(arrivals.*counter.value, 0U);
  const Interval total = generator.stats().total();
  EXPECT_GE(total.nanoseconds.quantile(0), 5'000U);
  EXPECT_LE(total.nanoseconds.greatest(), 5'000U + 2 * kTurn);
}

TEST(Generator, counts_what_is_lost_repeated_and_moved) {
  Generator generator = generator_of(kOneStep);
  ModelNetwork network;
  uint64_t lost[2] = {};
  uint64_t repeated = 0;
  network.copies = [&](const ModelNetwork::Frame& frame) {
    if (frame.number % 97 == 0) {
      ++lost[frame.in_port];
      return 0U;
    }
    if (frame.number % 89 != 0) return 1U;
    ++repeated;
    return 2U;
  };
  run(generator, network);
  const PacketCounts counts = generator.stats().counts();
  EXPECT_EQ(counts.lost_to_backends, lost[0]);
  EXPECT_EQ(counts.lost_to_clients, lost[1]);
  EXPECT_EQ(generator.stats().arrivals().duplicated, repeated);
  EXPECT_GT(counts.unanswerable, 0U) << "first packets were lost, and nobody knows the backend";
  EXPECT_GT(lost[1], 100U);
  check_sums(generator.stats());
}

TEST(Generator, sees_connections_change_their_backend) {
  Generator generator = generator_of(kOneStep);
  ModelNetwork network;
  std::map<std::string, uint8_t> backend_of;
  uint64_t changed = 0;
  network.backend = [&](const ModelNetwork::Frame& frame) {
    const std::string client(frame.bytes.begin() + 26, frame.bytes.begin() + 36);
    const auto backend = static_cast<uint8_t>(frame.number % 500 == 0 ? 12 : 11);
    const auto [known, is_new] = backend_of.emplace(client, backend);
    if (!is_new && known->second != backend) {
      ++changed;
      known->second = backend;
    }
    return backend;
  };
  run(generator, network);
  EXPECT_EQ(generator.stats().arrivals().backend_changed, changed);
  EXPECT_GT(changed, 50U);
}

// Coordinated omission: a receiver that stands still for half a second is seen by every packet that
// was due meanwhile, not by one.
TEST(Generator, shows_a_stopped_receiver_in_the_latencies) {
  // Without answers: those that wait for a client's packet could not be sent.
  Config config = config_of("[[step]]\nseconds = 2\npackets_per_second = 50000\n");
  config.traffic.answers = false;
  Generator generator = Generator::create(config, 1).value();
  ModelNetwork network;
  constexpr uint64_t kStop = kSecond / 2;
  network.leaves_at = [](uint64_t now) {
    return now >= kStop && now < 2 * kStop ? 2 * kStop : now + 5'000;
  };
  run(generator, network);
  const Interval total = generator.stats().total();
  EXPECT_EQ(total.counts.loss(), 0);
  // A quarter of the packets were due while it stood still; they have waited 250 ms on average.
  EXPECT_NEAR(static_cast<double>(total.nanoseconds.quantile(1 - 0.125)), 250e6, 5e6);
  EXPECT_NEAR(static_cast<double>(total.nanoseconds.quantile(0.99)), 480e6, 10e6);
  EXPECT_LT(total.nanoseconds.quantile(0.74), 10'000U);
  EXPECT_GT(generator.stats().seconds()[0].p99, 400'000'000U);
  EXPECT_LT(generator.stats().seconds()[1].p99, 10'000U);
}

TEST(Generator, says_that_it_was_late) {
  Generator generator = generator_of(kOneStep);
  ModelNetwork network;
  run(generator, network, 1'000'000);  // a turn each millisecond, and late is 100 us
  const PacketCounts counts = generator.stats().counts();
  EXPECT_NEAR(static_cast<double>(counts.late) / static_cast<double>(counts.offered), 0.89, 0.02);
  // The time that it was late is in the latencies.
  EXPECT_GT(generator.stats().total().nanoseconds.quantile(0.5), 400'000U);
}

TEST(Generator, gives_up_packets_whose_place_is_needed) {
  Config config = config_of("[[step]]\nseconds = 4\npackets_per_second = 100000\n");
  config.traffic.stream.profile.flows = 60'000;
  Generator generator = Generator::create(config, 1).value();  // with 262,144 places
  ModelNetwork network;
  uint64_t lost = 0;
  network.copies = [&](const ModelNetwork::Frame& frame) {
    if (frame.number % 10 != 3) return 1U;
    ++lost;
    return 0U;
  };
  uint64_t now = 0;
  for (; now < 4 * kSecond; now += kTurn) network.turn(generator, now);
  EXPECT_GT(generator.stats().counts().lost(), 1'000U) << "before the run is over";
  generator.finish();
  const PacketCounts counts = generator.stats().counts();
  EXPECT_NEAR(static_cast<double>(counts.lost()), static_cast<double>(lost), 5)
      << "and what was on its way";
  check_sums(generator.stats());
}

TEST(Generator, counts_what_a_port_refuses) {
  Generator generator = generator_of(kOneStep);
  TestRoom room;
  uint64_t count = 0;
  room.is_full = [&] { return count++ % 3 == 0; };
  for (uint64_t now = 0; !generator.is_over(now); now += kTurn) {
    while (const auto made = generator.make_next(now, room))
      if (count % 2 == 0) generator.refuse(*made);
  }
  generator.finish();
  check_sums(generator.stats());
  EXPECT_GT(generator.stats().counts().refused, 1'000U);
  EXPECT_EQ(generator.stats().counts().returned, 0U);
}

// What a peer and a tracker on the way read of a connection's segments.
struct Stream {
  uint32_t next = 0;
  bool has_begun = false;
};

TEST(Generator, makes_connections_that_are_whole) {
  for (const char* frames : {"64", "\"imix\"", "1000"}) {
    std::string more = kOneStep;
    Config config = config_of(more);
    if (std::string(frames) == "\"imix\"") config.traffic.frames = FrameLaw::kImix;
    if (std::string(frames) == "1000") config.traffic.frame_bytes = 1'000;
    config.clients.vlan = 100;
    config.services.push_back({net::IpAddress::parse("2001:db8:3::80").value(), 443});
    config.services.push_back(
        {net::IpAddress::parse("198.51.100.53").value(), 53, net::IpProtocol::kUdp});
    config.traffic.ends = {.fin = 0.5, .rst = 0.3};
    Generator generator = Generator::create(config, 1).value();
    ModelNetwork network;
    network.translates = false;
    network.keeps_frames = true;
    run(generator, network);
    std::map<std::string, Stream> streams;
    std::map<std::string, uint64_t> ends;
    std::set<size_t> sizes;
    uint64_t udp = 0;
    for (ModelNetwork::Frame& frame : network.seen) {
      net::Packet packet{.data = frame.bytes.data(),
                         .contiguous_bytes = static_cast<uint32_t>(frame.bytes.size()),
                         .total_bytes = static_cast<uint32_t>(frame.bytes.size())};
      net::ParsedPacket parsed;
      ASSERT_EQ(net::parse(packet, parsed), net::ParseVerdict::kOk);
      ASSERT_EQ(net::verify_l4_checksum(packet, parsed), net::L4ChecksumVerdict::kRight);
      ASSERT_EQ(parsed.vlan.count, frame.in_port == 0 ? 1 : 0);
      sizes.insert(frame.bytes.size());
      if (parsed.protocol == net::IpProtocol::kUdp) {
        ++udp;
        continue;
      }
      const size_t addresses = parsed.is_ipv6 ? net::ipv6::kSource : net::ipv4::kSource;
      const uint8_t* ends_at = packet.data + parsed.ip_offset + addresses;
      const std::string key(ends_at,
                            static_cast<const uint8_t*>(packet.data + parsed.l4_offset + 4));
      const net::TcpSegment segment = net::read_tcp_segment(packet, parsed);
      Stream& stream = streams[key];
      if (stream.has_begun) {
        ASSERT_EQ(segment.sequence, stream.next);
      } else {
        ASSERT_TRUE(segment.has(net::tcp::kSyn) || frame.in_port == 1);
      }
      stream = {segment.end(), true};
      ends["fin"] += segment.has(net::tcp::kFin) ? 1U : 0U;
      ends["rst"] += segment.has(net::tcp::kRst) ? 1U : 0U;
    }
    EXPECT_GT(udp, 10'000U);
    EXPECT_GT(ends["fin"], 500U);
    EXPECT_NEAR(static_cast<double>(ends["rst"]) / static_cast<double>(ends["fin"]), 0.6, 0.15);
    // Those with a tag and those of IPv6 do not fit into 64 bytes.
    const std::map<std::string, size_t> expected = {{"64", 4}, {"\"imix\"", 6}, {"1000", 1}};
    EXPECT_EQ(sizes.size(), expected.at(frames));
    EXPECT_EQ(generator.stats().counts().returned, network.seen.size());
  }
}

// The clients' ends of all frames that a run sent.
std::set<std::string> client_ends_of(const std::string& more, PacketStats& stats) {
  Generator generator = generator_of(more);
  ModelNetwork network;
  network.translates = false;
  network.keeps_frames = true;
  run(generator, network);
  stats = generator.stats();
  std::set<std::string> clients;
  for (const ModelNetwork::Frame& frame : network.seen)
    if (frame.in_port == 0) clients.emplace(frame.bytes.begin() + 26, frame.bytes.begin() + 36);
  return clients;
}

TEST(Generator, floods_from_clients_that_have_no_connection) {
  PacketStats stats;
  const std::set<std::string> without = client_ends_of(kOneStep, stats);
  const std::set<std::string> with = client_ends_of(kOneStep + R"([flood]
kind = "syn"
packets_per_second = 100000
from = 0.25
to = 0.75
)",
                                                    stats);
  EXPECT_EQ(stats.arrivals().flood_sent, 50'000U);
  EXPECT_EQ(stats.arrivals().flood_returned, 50'000U);
  EXPECT_EQ(stats.counts().returned, 50'000U);
  check_sums(stats);
  EXPECT_TRUE(std::ranges::includes(with, without));
  EXPECT_NEAR(static_cast<double>(with.size() - without.size()), 50'000, 10);
}

TEST(Generator, answers_for_its_addresses) {
  Generator generator = generator_of(kOneStep);
  std::vector<uint8_t> frame(60);
  const auto ask = [&](const char* address) {
    const net::FrameHeader header{
        .macs = {.source = {{2, 0, 0, 0, 9, 9}}, .destination = net::kBroadcastMac},
        .ether_type = net::ethernet::kArp};
    net::write_arp(net::write_frame_header(frame, header),
                   {.is_request = true,
                    .sender_mac = {{2, 0, 0, 0, 9, 9}},
                    .sender = {{10, 0, 0, 254}},
                    .target = net::Ipv4Address::parse(address).value()});
    const net::Packet packet{
        .data = frame.data(), .contiguous_bytes = 60, .total_bytes = 60, .in_port = 1};
    generator.receive(packet, 0);
    std::vector<uint8_t> answer;
    if (!generator.outbox().is_empty()) {
      const net::Outbox::Frame sent = generator.outbox().frame(0);
      EXPECT_EQ(sent.out_port, 1);
      answer.assign(sent.bytes.begin(), sent.bytes.end());
    }
    generator.outbox().clear();
    return answer;
  };
  const std::vector<uint8_t> answer = ask("10.0.0.17");
  ASSERT_EQ(answer.size(), net::ethernet::kHeaderBytes + net::kArpBytes);
  const auto reply = net::parse_arp(std::span(answer).subspan(net::ethernet::kHeaderBytes));
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->is_request);
  EXPECT_EQ(reply->sender_mac, (net::MacAddress{{2, 0, 0, 0, 0, 2}}));
  EXPECT_EQ(reply->sender, (net::Ipv4Address{{10, 0, 0, 17}}));
  EXPECT_TRUE(ask("10.0.1.17").empty());
  EXPECT_TRUE(ask("64.0.0.1").empty()) << "that is the other side's";
  EXPECT_EQ(generator.stats().arrivals().neighbour_requests, 1U);
  EXPECT_EQ(generator.stats().arrivals().foreign, 2U);
}

TEST(Generator, takes_any_bytes_at_all) {
  Generator generator = generator_of(kOneStep);
  traffic::Draw draw(3);
  for (unsigned i = 0; i < 200'000; ++i) {
    std::vector<uint8_t> bytes(draw.below(120));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(draw.word());
    if (bytes.size() > 34 && draw.below(2) == 0) {
      bytes[12] = 8;
      bytes[13] = 0;
      bytes[14] = 0x45;
    }
    const net::Packet packet{.data = bytes.data(),
                             .contiguous_bytes = static_cast<uint32_t>(bytes.size()),
                             .total_bytes = static_cast<uint32_t>(bytes.size()),
                             .in_port = static_cast<uint16_t>(draw.below(2))};
    generator.receive(packet, 0);
  }
  EXPECT_EQ(generator.stats().arrivals().foreign, 200'000U);
}

}  // namespace
}  // namespace roost::trafficgen
