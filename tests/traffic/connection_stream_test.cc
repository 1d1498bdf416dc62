// Streams of connections against what their profile says.
#include "roost/traffic/connection_stream.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/base/step_count.h"

namespace roost::traffic {
namespace {

constexpr Profile kSmall = {"small", 20'000, 10, {LengthLaw::kPareto, 30, 1.3, 10'000}, 2, 720};

struct Reading {
  size_t packets = 32;  // a call
  uint64_t budget = UINT64_MAX;
  uint64_t calls = 0;  // that it took
};

std::vector<StreamPacket> all_packets(const ConnectionStream::Config& config, Reading& reading) {
  ConnectionStream stream = ConnectionStream::create(config).value();
  std::vector<StreamPacket> packets;
  std::vector<StreamPacket> some(reading.packets);
  for (; !stream.is_over(); ++reading.calls) {
    const size_t count = stream.next(some, reading.budget);
    packets.insert(packets.end(), some.begin(), some.begin() + static_cast<ptrdiff_t>(count));
  }
  EXPECT_EQ(stream.next(some), 0U);
  EXPECT_EQ(stream.live(), 0U);
  EXPECT_EQ(stream.begun(), stream.flow_count());
  return packets;
}

std::vector<StreamPacket> all_packets(const ConnectionStream::Config& config) {
  Reading reading;
  return all_packets(config, reading);
}

// Each connection's packets come in their order and one after the other, the last one last, and no
// two connections are the same one.
TEST(ConnectionStream, connections_begin_send_and_end) {
  constexpr unsigned kWindows = 3;
  const std::vector<StreamPacket> packets = all_packets({.profile = kSmall, .windows = kWindows});
  std::vector<uint32_t> sent(kWindows * kSmall.flows);
  std::vector<bool> is_over(sent.size());
  uint64_t now = 0;
  for (const StreamPacket& packet : packets) {
    ASSERT_GE(packet.nanoseconds, now);
    now = packet.nanoseconds;
    ASSERT_LT(packet.flow, sent.size());
    ASSERT_FALSE(is_over[packet.flow]);
    ASSERT_EQ(packet.number, sent[packet.flow]++);
    is_over[packet.flow] = packet.is_last;
  }
  for (const bool is_one_over : is_over) ASSERT_TRUE(is_one_over);
}

TEST(ConnectionStream, gives_a_place_to_one_connection_at_a_time) {
  const std::vector<StreamPacket> packets = all_packets({.profile = kSmall, .windows = 3});
  constexpr uint32_t kNobody = UINT32_MAX;
  std::vector<uint32_t> flow_at;
  for (const StreamPacket& packet : packets) {
    if (packet.place >= flow_at.size()) flow_at.resize(packet.place + 1, kNobody);
    uint32_t& flow = flow_at[packet.place];
    ASSERT_EQ(flow, packet.number == 0 ? kNobody : packet.flow);
    flow = packet.is_last ? kNobody : packet.flow;
  }
  EXPECT_LT(flow_at.size(), packets.size() / 30);  // fewer than there are connections in all
}

// Connections that last for minutes have their handshakes in no time.
TEST(ConnectionStream, handshakes_last_for_round_trips) {
  Profile profile = kSmall;
  profile.length = {.law = LengthLaw::kFixed, .mean = 20};
  profile.flow_seconds = 200;
  profile.round_trip_seconds = 0.05;
  std::vector<uint64_t> before(profile.flows);
  double handshakes = 0;
  double data = 0;
  for (const StreamPacket& packet : all_packets({.profile = profile})) {
    const auto gap = static_cast<double>(packet.nanoseconds - before[packet.flow]) / 1e9;
    before[packet.flow] = packet.nanoseconds;
    if (packet.number == 1 || packet.number == 2) handshakes += gap;
    if (packet.number > 2) data += gap;
  }
  const auto flows = static_cast<double>(profile.flows);
  EXPECT_NEAR(handshakes / (2 * flows), 0.05, 0.002);
  EXPECT_NEAR(data / (17 * flows), 10, 0.4);
}

TEST(ConnectionStream, flows_of_a_fixed_length_have_exactly_that) {
  Profile profile = kSmall;
  profile.length = {.law = LengthLaw::kFixed, .mean = 20};
  std::vector<uint32_t> sent(profile.flows);
  for (const StreamPacket& packet : all_packets({.profile = profile})) {
    ++sent[packet.flow];
    ASSERT_EQ(packet.is_last, packet.number == 19);
  }
  for (const uint32_t packets : sent) ASSERT_EQ(packets, 20U);
}

TEST(ConnectionStream, has_the_rate_and_the_lengths_of_its_profile) {
  const std::vector<StreamPacket> packets = all_packets({.profile = kSmall, .windows = 2});
  const double flows = 2 * static_cast<double>(kSmall.flows);
  EXPECT_NEAR(static_cast<double>(packets.size()) / flows, 30, 2);
  uint64_t begun_in_half = 0;
  uint64_t last_begun = 0;
  double seconds = 0;
  std::vector<uint64_t> begun(2 * kSmall.flows);
  uint64_t longer = 0;
  for (const StreamPacket& packet : packets) {
    if (packet.number == 0) {
      begun[packet.flow] = packet.nanoseconds;
      last_begun = packet.nanoseconds;
      if (packet.nanoseconds < 5'000'000'000U) ++begun_in_half;
    }
    if (packet.is_last) {
      seconds += static_cast<double>(packet.nanoseconds - begun[packet.flow]) * 1e-9;
      ++longer;
    }
  }
  EXPECT_NEAR(static_cast<double>(begun_in_half), flows / 2, 5 * 100);
  EXPECT_NEAR(static_cast<double>(last_begun) * 1e-9, 10, 0.3);
  // One gap is missing at the end of each connection.
  EXPECT_NEAR(seconds / static_cast<double>(longer), 2, 0.25);
}

TEST(ConnectionStream, is_the_same_of_the_same_seed_however_it_is_read) {
  Profile profile = kSmall;
  profile.flows = step_count(profile.flows);
  const ConnectionStream::Config config{.profile = profile, .windows = 2, .seed = 9};
  const std::vector<StreamPacket> one = all_packets(config);
  for (Reading reading : {Reading{.packets = 1'000}, Reading{.packets = 1'000, .budget = 7},
                          Reading{.packets = 3, .budget = 300}}) {
    SCOPED_TRACE(reading.budget);
    const std::vector<StreamPacket> other = all_packets(config, reading);
    ASSERT_EQ(one.size(), other.size());
    for (size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one[i].flow, other[i].flow);
      ASSERT_EQ(one[i].number, other[i].number);
      ASSERT_EQ(one[i].nanoseconds, other[i].nanoseconds);
      ASSERT_EQ(one[i].place, other[i].place);
    }
  }
  ConnectionStream::Config next_seed = config;
  next_seed.seed = 10;
  EXPECT_NE(all_packets(next_seed).size(), one.size());
}

// Each connection is looked at for its packets, and now and then while they are far ahead; those of
// a tick have one look for several.
TEST(ConnectionStream, looks_at_no_more_connections_than_it_may) {
  Reading reading{.packets = 1'000, .budget = 10};
  const std::vector<StreamPacket> packets = all_packets({.profile = kSmall}, reading);
  EXPECT_GT(reading.calls, packets.size() / 15);
  EXPECT_LT(reading.calls, packets.size());
}

TEST(ConnectionStream, in_bursts_begins_connections_together) {
  const std::vector<StreamPacket> packets =
      all_packets({.profile = kSmall, .arrivals = ArrivalLaw::kBursts, .burst = 16});
  std::vector<uint64_t> begun;
  for (const StreamPacket& packet : packets)
    if (packet.number == 0) begun.push_back(packet.nanoseconds);
  ASSERT_EQ(begun.size() % 16, 0U);
  for (size_t i = 0; i < begun.size(); ++i) ASSERT_EQ(begun[i], begun[i / 16 * 16]) << i;
}

// The size of the paper's runs: 32 windows.
TEST(ConnectionStream, of_many_windows_begins_them_all_at_once) {
  for (const Profile& profile : kProfiles) {
    SCOPED_TRACE(profile.name);
    ConnectionStream stream = ConnectionStream::create({.profile = profile, .windows = 32}).value();
    std::vector<StreamPacket> packets(step_count(1'000'000));
    ASSERT_EQ(stream.next(packets), packets.size());
    std::vector<bool> is_seen(32);
    for (const StreamPacket& packet : packets) is_seen[packet.flow / profile.flows] = true;
    for (const bool is_one_seen : is_seen) EXPECT_TRUE(is_one_seen);
  }
}

TEST(ConnectionStream, refuses_what_cannot_be) {
  EXPECT_EQ(ConnectionStream::create({.profile = kSmall, .windows = 0}).error().message,
            "a stream of 0 windows of 20000 flows: it has 1 to 2147483646 flows in all");
  Profile profile = kSmall;
  profile.length.mean = 2;
  EXPECT_FALSE(ConnectionStream::create({.profile = profile}).ok());
}

}  // namespace
}  // namespace roost::traffic
