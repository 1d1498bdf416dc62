// A batch does what its packets would do one by one: those of connections that were there first,
// then the others, in their order. Two balancers get the same packets, one in batches, one singly,
// and must agree on every frame and every connection, whatever begins twice in a batch, is answered
// in it, takes another's reply tuple, waits for its neighbour, or finds all places taken.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/base/step_count.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

// `counted` goes by least connections, `bound` has few local ports, answers of `direct` pass us by.
// The third backend of `web` has no neighbour.
std::string mixed_config(uint64_t places, bool has_rivals) {
  std::string toml = test_config("connections = 4_096", "connections = " + std::to_string(places));
  const std::string_view first_mac = "mac = \"02:00:00:00:00:01\"\n";
  toml.insert(toml.find(first_mac), "default_neighbour_mac = \"02:00:00:00:01:01\"\n");
  const std::string_view third =
      "[[neighbour]]\naddress = \"10.0.0.13\"\nmac = \"02:00:00:00:02:13\"\n";
  toml.erase(toml.find(third), third.size());
  toml += R"([[service]]
name = "direct"
address = "198.51.100.54"
port = 53
protocol = "udp"
mode = "ipip"
backends = [{name = "b1", address = "10.0.0.11"}, {name = "b2", address = "10.0.0.12"}]
)";
  toml += kShortTimeouts;
  // A rival's connection that is refused leaves entries where they would not stand without it, so
  // that other expired ones are overwritten: that shows in which local ports are taken, and in
  // counts of connections.
  if (has_rivals) {
    toml += kRivalService;
  } else {
    toml += R"([[service]]
name = "counted"
address = "198.51.100.82"
port = 80
protocol = "tcp"
algorithm = "least_connections"
backends = [{name = "b1", address = "10.0.0.11", port = 8081},
            {name = "b2", address = "10.0.0.12", port = 8081}]
[[service]]
name = "bound"
address = "198.51.100.83"
port = 80
protocol = "tcp"
mode = "fullnat"
backends = [{name = "b1", address = "10.0.0.11", port = 8082},
            {name = "b2", address = "10.0.0.12", port = 8082}]
[fullnat]
addresses = ["10.0.0.100"]
ports = [1024, 1150]
)";
  }
  return toml;
}

struct MixedService {
  std::string address;
  bool is_tcp;
  uint16_t backend_port;
  bool is_bound = false;
};
// With rivals the third and the fifth are not there, without them the last one.
const std::array<MixedService, 6> kMixed = {{{"198.51.100.80", true, 8080},
                                             {"198.51.100.53", false, 53},
                                             {"198.51.100.82", true, 8081},
                                             {"198.51.100.54", false, 53},
                                             {"198.51.100.83", true, 8082, true},
                                             {"198.51.100.81", true, 8080}}};

// Of IPv4 without options.
net::FlowKey4 key_of(const std::vector<uint8_t>& frame) {
  net::FlowKey4 key;
  std::memcpy(&key.source, &frame[26], 4);
  std::memcpy(&key.destination, &frame[30], 4);
  key.source_port = static_cast<uint16_t>(frame[34] << 8 | frame[35]);
  key.destination_port = static_cast<uint16_t>(frame[36] << 8 | frame[37]);
  key.protocol = net::IpProtocol{frame[23]};
  return key;
}

class Twins {
 public:
  Twins(uint64_t seed, uint64_t places, bool has_rivals)
      : random_(seed),
        has_rivals_(has_rivals),
        batched_(mixed_config(places, has_rivals)),
        single_(mixed_config(places, has_rivals)) {
    for (TestBalancer* one : {&batched_, &single_}) {
      auto& services = one->state().ipv4().services();
      for (uint32_t i = 0; services.has_backend(i); ++i) services.backend(i).local_port_turn = 0;
    }
  }

  void run(uint64_t batches) {
    for (uint64_t i = 0; i < batches && !testing::Test::HasFatalFailure(); ++i) {
      move_time();
      run_batch();
      if (i % 1'000 == 999) compare_connections();
    }
    compare_connections();
  }

  Report report() { return batched_.report(); }

 private:
  void move_time() {
    const uint64_t ticks = random_() % 8 == 0 ? random_() % 3 : 0;
    const uint64_t budget = random_() % 64;
    const bool is_idle = random_() % 2 == 0;
    for (TestBalancer* one : {&batched_, &single_}) {
      one->now.count += ticks;
      if (is_idle) one->idle(budget);
    }
  }

  uint8_t random_flags() {
    using namespace net::tcp;
    constexpr std::array<uint8_t, 10> kFlags = {kSyn, kSyn, kSyn,        kSyn, kSyn,
                                                kAck, kAck, kFin | kAck, kRst, kSyn | kAck};
    return kFlags[random_() % kFlags.size()];
  }

  Arrival packet() {
    size_t which = random_() % kMixed.size();
    if (has_rivals_ ? which == 2 || which == 4 : which == 5) which = 0;
    const MixedService& service = kMixed[which];
    PacketSpec spec{.destination_port = static_cast<uint16_t>(service.is_tcp ? 80 : 53)};
    spec.source = random_() % 2 == 0 ? "192.0.2.10" : "192.0.2.11";
    spec.destination = service.address;
    spec.protocol = service.is_tcp ? net::IpProtocol::kTcp : net::IpProtocol::kUdp;
    spec.tcp_flags = random_flags();
    spec.payload = random_() % 8 == 0 ? std::string(2'000, 'x') : "";
    spec.source_port = static_cast<uint16_t>(1 + random_() % 300);
    if (random_() % 4 != 0) return {make_frame(spec), 0};
    spec.destination_mac = "02:00:00:00:00:02";
    spec.destination = spec.source;
    spec.destination_port = spec.source_port;
    spec.source = random_() % 2 == 0 ? "10.0.0.11" : "10.0.0.12";
    spec.source_port = service.backend_port;
    if (service.is_bound) {
      spec.destination = "10.0.0.100";
      spec.destination_port = static_cast<uint16_t>(1'024 + random_() % 127);
    }
    return {make_frame(spec), 1};
  }

  // The client's packet a moment later, or what a backend answers to it.
  Arrival again(const Arrival& before) {
    Arrival next = before;
    if (random_() % 2 == 0 && before.in_port == 0) {
      const net::FlowKey4 key = key_of(before.frame);
      PacketSpec spec{
          .destination_mac = "02:00:00:00:00:02",
          .source = random_() % 2 == 0 ? "10.0.0.11" : "10.0.0.12",
          .destination = key.source.format(),
          .source_port = static_cast<uint16_t>(key.protocol == net::IpProtocol::kTcp ? 8080 : 53),
          .destination_port = key.source_port,
          .protocol = key.protocol,
          .tcp_flags = net::tcp::kSyn | net::tcp::kAck,
          .payload = ""};
      next = {make_frame(spec), 1};
    }
    return next;
  }

  void run_batch() {
    std::vector<Arrival> arrivals;
    const size_t count = 1 + random_() % net::kBatchLanesMax;
    while (arrivals.size() < count) {
      const bool is_again = !arrivals.empty() && random_() % 4 == 0;
      arrivals.push_back(is_again ? again(arrivals[random_() % arrivals.size()]) : packet());
    }
    single_.state().tracker().advance(single_.now);
    std::vector<size_t> order, late;
    for (size_t i = 0; i < count; ++i) {
      const bool is_known =
          single_.state().ipv4().connections().find(key_of(arrivals[i].frame)).connection;
      (is_known ? order : late).push_back(i);
    }
    order.insert(order.end(), late.begin(), late.end());
    const std::vector<Fate> together = batched_.send_batch(arrivals);
    for (const size_t i : order) {
      const Fate alone = single_.send(arrivals[i]);
      ASSERT_EQ(together[i].cause, alone.cause) << "lane " << i;
      ASSERT_TRUE(together[i] == alone) << "lane " << i;
    }
    ASSERT_TRUE(batched_.originated == single_.originated);
    batched_.originated.clear();
    single_.originated.clear();
  }

  static std::set<std::string> connections_of(TestBalancer& balancer) {
    auto& connections = balancer.state().ipv4().connections();
    std::set<std::string> found;
    std::remove_reference_t<decltype(connections)>::WalkCursor cursor;
    connections.walk(cursor, UINT64_MAX, [&](const net::FlowKey4& key, const Connection& one) {
      std::string bytes(sizeof key + sizeof one, '\0');
      std::memcpy(bytes.data(), &key, sizeof key);
      std::memcpy(bytes.data() + sizeof key, &one, sizeof one);
      found.insert(bytes + std::to_string(connections.ticks_left(one)));
      return false;
    });
    return found;
  }
  void compare_connections() {
    const Report of_batches = batched_.report();
    const Report of_packets = single_.report();
    for (const auto& counter : kFlowCounters) {
      EXPECT_EQ(of_batches.flows.*counter.value, of_packets.flows.*counter.value) << counter.name;
    }
    EXPECT_EQ(of_batches.live, of_packets.live);
    EXPECT_EQ(broken_sums(of_batches), std::vector<std::string>());
    EXPECT_TRUE(batched_.state().audit());
    ASSERT_EQ(connections_of(batched_), connections_of(single_));
  }

  std::mt19937_64 random_;
  bool has_rivals_;
  TestBalancer batched_;
  TestBalancer single_;
};

TEST(together, a_batch_does_what_its_packets_would_do_alone) {
  const uint64_t seed = 20'261'128;
  SCOPED_TRACE(seed);
  Twins twins(seed, 4'096, true);
  twins.run(step_count(20'000));
  const Report report = twins.report();
  EXPECT_GT(report.flows.created, step_count(20'000));
  EXPECT_EQ(report.flows.evicted, 0U);
  EXPECT_GT(report.run.drops[DropCause::kReplyTupleTaken], 100U);
}

// The hand goes round the buckets, so that even who stands where must be the same.
TEST(together, a_full_table_evicts_whom_single_packets_would) {
  const uint64_t seed = 20'261'129;
  SCOPED_TRACE(seed);
  Twins twins(seed, 300, false);
  twins.run(step_count(20'000));
  const Report report = twins.report();
  EXPECT_GT(report.flows.evicted, 1'000U);
}

}  // namespace
}  // namespace roost::lb
