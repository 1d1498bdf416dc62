// A watched datapath decides what one that is not watched decides, packet by packet; it sees every
// packet that its filter admits, once, or counts it as missed.
#include "roost/trace/watched.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "apps/lb/control/flow_note.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

// Packets of a few clients and backends, of every kind that the balancer knows; some are no
// packets.
Arrival random_arrival(std::mt19937_64& random) {
  PacketSpec spec;
  const bool is_from_backend = random() % 3 == 0;
  spec.source = "192.0.2." + std::to_string(10 + random() % 2);
  spec.source_port = static_cast<uint16_t>(40'000 + random() % 6);
  spec.tcp_flags = static_cast<uint8_t>(random() % 32);
  spec.ttl = random() % 8 == 0 ? 1 : 64;
  if (random() % 8 == 0) spec.destination = "198.51.100.99";
  if (is_from_backend) {
    std::swap(spec.source, spec.destination);
    std::swap(spec.source_port, spec.destination_port);
    spec.source = "10.0.0.1" + std::to_string(1 + random() % 3);
    spec.source_port = 8'080;
    spec.destination_mac = "02:00:00:00:00:02";
  }
  Arrival arrival{.frame = make_frame(spec),
                  .in_port = is_from_backend ? uint16_t{1} : uint16_t{0}};
  if (random() % 16 == 0) arrival.frame.resize(random() % arrival.frame.size() + 1);
  return arrival;
}

using WatchedLb = trace::Watched<Datapath, State>;
using trace::PacketTrace;
using trace::Watch;

// A balancer whose datapath may be watched.
class WatchedBalancer {
 public:
  WatchedBalancer() : datapath(balancer_.state()) {}

  std::vector<Fate> send_batch(std::vector<Arrival> arrivals, Tick now) {
    constexpr size_t kHeadroom = 128;
    net::PacketBatch batch;
    std::vector<std::vector<uint8_t>> buffers;
    for (const Arrival& arrival : arrivals) {
      std::vector<uint8_t>& buffer = buffers.emplace_back(kHeadroom);
      buffer.insert(buffer.end(), arrival.frame.begin(), arrival.frame.end());
    }
    for (size_t i = 0; i < arrivals.size(); ++i) {
      const auto bytes = static_cast<uint32_t>(arrivals[i].frame.size());
      batch.push({.data = buffers[i].data() + kHeadroom,
                  .contiguous_bytes = bytes,
                  .total_bytes = bytes,
                  .headroom = kHeadroom,
                  .in_port = arrivals[i].in_port});
    }
    datapath.process(batch, now);
    own_count += datapath.outbox().frame_count();
    datapath.outbox().clear();
    std::vector<Fate> fates;
    for (size_t i = 0; i < batch.lane_count(); ++i) {
      const net::LaneVerdict verdict = batch.verdicts()[i];
      Fate& fate = fates.emplace_back();
      fate.is_consumed = verdict.is_consumed();
      if (verdict.is_drop()) fate.cause = static_cast<DropCause>(verdict.drop_cause());
      if (!verdict.is_forward()) continue;
      const net::Packet& packet = batch.packets()[i];
      fate.out_port = verdict.out_port();
      fate.frame.assign(packet.data, packet.data + packet.total_bytes);
    }
    return fates;
  }

 private:
  TestBalancer balancer_;

 public:
  WatchedLb datapath;
  uint64_t own_count = 0;
};

std::vector<Arrival> random_batch(std::mt19937_64& random) {
  std::vector<Arrival> arrivals;
  for (size_t i = random() % net::kBatchLanesMax + 1; i > 0; --i) {
    arrivals.push_back(random_arrival(random));
  }
  return arrivals;
}

io::PacketFilter filter_of(const std::string& expression) {
  auto filter = io::PacketFilter::compile(expression);
  EXPECT_TRUE(filter);
  return std::move(filter).value();
}

TEST(WatchedLb, decides_what_one_that_nobody_watches_decides) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const io::PacketFilter everything = filter_of("");
    Watch watch({.traces_max = 8}, everything);
    TestBalancer plain;
    WatchedBalancer watched;
    uint64_t forwarded = 0;
    for (uint64_t round = 0; round < 200; ++round) {
      // Watched, not watched, watched again.
      watched.datapath.set_watch(round / 50 % 2 == 0 ? &watch : nullptr);
      const std::vector<Arrival> arrivals = random_batch(random);
      plain.now = Tick{round};
      const std::vector<Fate> expected = plain.send_batch(arrivals);
      ASSERT_EQ(watched.send_batch(arrivals, Tick{round}), expected) << round;
      for (const Fate& fate : expected) forwarded += fate.frame.empty() ? 0U : 1U;
    }
    EXPECT_GT(forwarded, 500U);
    EXPECT_GT(plain.originated.size(), 10U);
    EXPECT_EQ(watched.own_count, plain.originated.size());
  }
}

TEST(WatchedLb, sees_each_packet_that_the_filter_admits_or_counts_it_as_missed) {
  const io::PacketFilter filter = filter_of("host 198.51.100.80 and not icmp");
  for (const uint64_t seed : {4U, 5U, 6U}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Watch watch({.worker = 3, .traces_max = 40}, filter);
    WatchedBalancer watched;
    watched.datapath.set_watch(&watch);
    uint64_t admitted = 0;
    uint64_t seen = 0;
    uint64_t missed = 0;
    for (uint64_t round = 0; round < 100; ++round) {
      const std::vector<Arrival> arrivals = random_batch(random);
      const std::vector<Fate> fates = watched.send_batch(arrivals, Tick{round});
      for (size_t i = 0; i < fates.size(); ++i) {
        const auto admits = [&filter](const std::vector<uint8_t>& frame) {
          return !frame.empty() && filter.admits(frame, static_cast<uint32_t>(frame.size()));
        };
        if (admits(arrivals[i].frame) || admits(fates[i].frame)) ++admitted;
      }
      if (round % 4 != 3) continue;  // meanwhile the ring runs full
      for (; watch.ring.front() != nullptr; watch.ring.release()) {
        const PacketTrace& seen_packet = *watch.ring.front();
        EXPECT_EQ(seen_packet.worker, 3);
        missed += seen_packet.missed_before;
        seen += seen_packet.is_own ? 0U : 1U;
      }
    }
    EXPECT_GT(missed, 0U);
    EXPECT_EQ(missed + watch.missed_unsaid, watch.missed_count);
    // Answers of the balancer to what was admitted are traced too; they may be among the missed.
    EXPECT_GE(seen + watch.missed_count, admitted);
    EXPECT_LE(seen + watch.missed_count, admitted + watched.own_count);
  }
}

TEST(WatchedLb, says_what_the_tables_said_before_and_after) {
  const io::PacketFilter everything = filter_of("");
  Watch watch({.traces_max = 8}, everything);
  WatchedBalancer watched;
  watched.datapath.set_watch(&watch);
  PacketSpec spec;
  PacketSpec stranger;
  stranger.destination = "198.51.100.99";
  const std::vector<Fate> fates = watched.send_batch(
      {{.frame = make_frame(spec)}, {.frame = make_frame(spec)}, {.frame = make_frame(stranger)}},
      Tick{5});

  struct Seen {
    PacketTrace trace;
    FlowNote before, after;
  };
  const auto take = [&watch] {
    const PacketTrace trace = *watch.ring.front();
    watch.ring.release();
    return Seen{trace, trace.before.get<FlowNote>(), trace.after.get<FlowNote>()};
  };
  const Seen first = take();
  EXPECT_EQ(first.trace.number, 1U);
  EXPECT_TRUE(first.before.is_service);
  EXPECT_FALSE(first.before.is_known);
  EXPECT_TRUE(first.after.is_known && first.after.is_from_client);
  EXPECT_EQ(first.after.state, ConnectionState::kSynSent);
  EXPECT_TRUE(std::ranges::equal(first.trace.received.kept(), make_frame(spec)));
  EXPECT_TRUE(std::ranges::equal(first.trace.sent.kept(), fates[0].frame));

  const Seen second = take();
  EXPECT_TRUE(second.before.is_known && second.after.is_known);
  EXPECT_EQ(second.before.backend, first.after.backend);

  const Seen third = take();
  EXPECT_FALSE(third.before.is_service || third.before.is_known || third.after.is_known);
  EXPECT_EQ(third.trace.verdict.drop_cause(), drop_cause::kNoService);
  EXPECT_EQ(third.trace.sent.total_bytes, 0U);
  EXPECT_EQ(watch.ring.front(), nullptr);
}

}  // namespace
}  // namespace roost::lb
