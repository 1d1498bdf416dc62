// Random frames through the datapath, beside a model that keeps everything in maps and finds the
// oldest by looking at all; and as many hosts as users have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/assets/observed.h"
#include "tests/base/step_count.h"

namespace roost::assets {
namespace {

constexpr uint32_t kHosts = 24;
constexpr uint16_t kServices = 3;
constexpr uint64_t kAnswerTicks = 4;
#ifdef ROOST_SANITIZED
constexpr int kFrames = 5'000;
#else
constexpr int kFrames = 60'000;
#endif

using ServiceName = std::pair<int, uint16_t>;  // protocol, port

struct Times {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t number = 0;  // of the frame that showed it last

  void see(uint64_t tick, uint64_t frame) {
    if (number == 0) first = tick;
    last = tick;
    number = frame;
  }
};

template <class Map>
auto oldest_of(Map& map) {
  return std::min_element(map.begin(), map.end(), [](const auto& one, const auto& other) {
    return one.second.number < other.second.number;
  });
}

class Model {
 public:
  struct ModelHost : Times {
    std::map<ServiceName, Times> services{};
  };
  using Name = std::tuple<std::string, std::string, uint16_t>;  // address, MAC, VLAN

  void show(const PacketSpec& packet, uint64_t tick) {
    ++frame_;
    const bool is_udp = packet.protocol == net::IpProtocol::kUdp;
    const bool is_answer = is_udp && answers(packet, tick);
    const Name name(packet.source, packet.source_mac, packet.vlan.empty() ? 0 : packet.vlan[0]);
    if (!hosts.contains(name) && hosts.size() == kHosts) {
      services_left += oldest_of(hosts)->second.services.size();
      hosts.erase(oldest_of(hosts));
      ++hosts_evicted;
    }
    ModelHost& host = hosts[name];
    host.see(tick, frame_);
    if (!is_answer && (is_udp || packet.tcp_flags != kSynAck)) return;
    const ServiceName service(static_cast<int>(packet.protocol), packet.source_port);
    if (!host.services.contains(service) && host.services.size() == kServices) {
      host.services.erase(oldest_of(host.services));
      ++services_evicted;
    }
    host.services[service].see(tick, frame_);
  }

  std::map<Name, ModelHost> hosts{};
  uint64_t hosts_evicted = 0;
  uint64_t services_evicted = 0;
  uint64_t services_left = 0;

 private:
  using Pair = std::tuple<std::string, uint16_t, std::string, uint16_t>;

  bool answers(const PacketSpec& packet, uint64_t tick) {
    const auto asked = questions_.find(
        {packet.destination, packet.destination_port, packet.source, packet.source_port});
    if (asked != questions_.end() && tick - asked->second.last <= kAnswerTicks &&
        packet.source_port <= packet.destination_port) {
      return true;
    }
    const Pair pair(packet.source, packet.source_port, packet.destination, packet.destination_port);
    if (!questions_.contains(pair) && questions_.size() == kHosts)
      questions_.erase(oldest_of(questions_));
    questions_[pair].see(tick, frame_);
    return false;
  }

  std::map<Pair, Times> questions_{};
  uint64_t frame_ = 0;
};

Observer make_observer(uint32_t hosts_max) {
  return Observer::create(
             {.table = {.hosts_max = hosts_max, .services_max = kServices, .hash_seed = 7},
              .answer_ticks = kAnswerTicks})
      .value();
}

PacketSpec random_packet(std::mt19937_64& random) {
  const auto below = [&](uint64_t count) { return static_cast<uint16_t>(random() % count); };
  const std::string network = below(2) == 0 ? "192.0.2." : "2001:db8::";
  PacketSpec packet{.source_mac = "02:00:00:00:00:0" + std::to_string(below(2)),
                    .source = network + std::to_string(1 + below(5)),
                    .destination = network + std::to_string(1 + below(5)),
                    .source_port = static_cast<uint16_t>(1 + below(6)),
                    .destination_port = static_cast<uint16_t>(1 + below(6)),
                    .tcp_flags = below(2) == 0 ? kSynAck : net::tcp::kAck,
                    .payload = ""};
  if (below(2) == 0) packet.protocol = net::IpProtocol::kUdp;
  if (below(3) == 0) packet.vlan = {7};
  return packet;
}

void expect_same(const Model& model, Observer& observer) {
  AssetTable& table = observer.table();
  ASSERT_TRUE(table.audit());
  ASSERT_EQ(table.hosts().size(), model.hosts.size());
  for (const Host& host : table.hosts()) {
    const auto known =
        model.hosts.find({host.key.ip().format(), host.key.mac.format(), host.key.vlan});
    ASSERT_NE(known, model.hosts.end()) << host.key.ip().format();
    EXPECT_EQ(host.first.count, known->second.first);
    EXPECT_EQ(host.last.count, known->second.last);
    ASSERT_EQ(table.services(host).size(), known->second.services.size());
    for (const Service& one : table.services(host)) {
      const auto service = known->second.services.find({static_cast<int>(one.protocol), one.port});
      ASSERT_NE(service, known->second.services.end()) << one.port;
      EXPECT_EQ(one.first.count, service->second.first);
      EXPECT_EQ(one.last.count, service->second.last);
    }
  }
  EXPECT_EQ(table.counters().hosts_evicted, model.hosts_evicted);
  EXPECT_EQ(table.counters().services_evicted, model.services_evicted);
  EXPECT_EQ(table.counters().services_left, model.services_left);
}

TEST(AssetModel, hosts_services_times_and_evictions_are_those_of_a_model) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Observer observer = make_observer(kHosts);
  Datapath datapath(observer);
  Model model;
  uint64_t tick = 1;
  for (int i = 0; i < kFrames && !testing::Test::HasFailure(); ++i) {
    tick += random() % 8 == 0 ? 1U : 0U;
    const PacketSpec packet = random_packet(random);
    model.show(packet, tick);
    ASSERT_EQ(show(datapath, make_frame(packet), Tick{tick}), "consumed");
    if (i % 16 == 0) expect_same(model, observer);
  }
  EXPECT_GT(model.hosts_evicted, 100U);
  EXPECT_GT(model.services_evicted, 0U);
}

TEST(AssetModel, of_three_hundred_thousand_hosts_the_latest_hundred_thousand_are_there) {
  constexpr auto kMany = static_cast<uint32_t>(step_count(100'000));
  Observer observer = make_observer(kMany);
  Datapath datapath(observer);
  PacketSpec packet = tcp("2001:db8::", 80, kSynAck);
  packet.destination = "2001:db8::9";
  std::vector<uint8_t> frame = make_frame(packet);
  for (uint32_t i = 1; i <= 3 * kMany; ++i) {
    net::store_be32(&frame[14 + 8 + 12], i);
    ASSERT_EQ(show(datapath, frame, Tick{i / 1'000}), "consumed");
    if (i % 3 != 0) continue;  // the first thirty thousand stay
    net::store_be32(&frame[14 + 8 + 12], 1 + i % (kMany * 3 / 10));
    ASSERT_EQ(show(datapath, frame, Tick{i / 1'000}), "consumed");
  }
  AssetTable& table = observer.table();
  ASSERT_TRUE(table.audit());
  EXPECT_EQ(table.hosts().size(), kMany);
  EXPECT_EQ(table.counters().hosts_found, table.counters().hosts_evicted + kMany);
  HostKey key = table.hosts()[0].key;
  const auto is_there = [&](uint32_t i) {
    net::store_be32(&key.address.bytes[12], i);
    return table.find(key) != nullptr;
  };
  EXPECT_TRUE(is_there(3 * kMany) && is_there(3 * kMany - kMany / 2));
  EXPECT_FALSE(is_there(kMany) || is_there(kMany + 1));
}

}  // namespace
}  // namespace roost::assets
