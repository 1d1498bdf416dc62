// Floods of packets from invented addresses, ten times as many as there are places, with all places
// taken: assured connections live through them, and real clients still get in.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/base/step_count.h"
#include "tests/lb/flooded_balancer.h"

namespace roost::lb {
namespace {

using net::tcp::kAck;
using net::tcp::kFin;
using net::tcp::kSyn;

class flood : public testing::TestWithParam<Flood> {};

// Four of five places are assured, which leaves a fifth, and in the end half of those; with every
// 100th client of the flood a real one begins, gets its answer 500 clients later (or a fortieth of
// all places), and speaks again 500 later.
TEST_P(flood, evicts_itself_and_lets_real_clients_in) {
  FloodedBalancer world(GetParam());
  const uint64_t places = GetParam().places;
  const uint64_t packets = step_count(10 * places);
  std::vector<Client> assured;
  for (uint32_t i = 0; i < places * 4 / 5; ++i) assured.push_back(world.assure(i));

  std::mt19937_64 random(1);
  std::deque<Client> asking;
  std::deque<Client> answered;
  uint32_t began = 0;
  uint32_t arrived = 0;
  uint64_t refused = 0;
  const uint64_t between = places / 4'000;
  for (uint32_t packet = 0; packet < packets; ++packet) {
    const auto cause = world.flood_once();
    ASSERT_TRUE(!cause || cause == DropCause::kTableFull);
    if (cause) ++refused;
    const Client& old = assured[random() % assured.size()];
    if (packet % 10 == 0) {
      // First the backend, and as no first packet begins: any other would begin an evicted
      // connection anew.
      ASSERT_TRUE(world.answer(old, kSyn | kAck));
      ASSERT_TRUE(world.stays(old, kAck));
    }
    if (packet % 100 != 0) continue;
    const auto number = static_cast<uint32_t>(places + began++);
    if (const auto client = world.ask(number, kSyn)) asking.push_back(*client);
    if (asking.size() > between) {
      if (world.answer(asking.front(), kSyn | kAck)) answered.push_back(asking.front());
      asking.pop_front();
    }
    if (answered.size() > between) {
      const Client& ready = answered.front();
      if (world.stays(ready, kAck) && world.answer(ready, kSyn | kAck)) ++arrived;
      answered.pop_front();
    }
  }
  for (const Client& client : assured) {
    ASSERT_TRUE(world.answer(client, kSyn | kAck));
    ASSERT_TRUE(world.stays(client, kAck));
  }
  const Report report = world.balancer().report();
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  EXPECT_EQ(report.live, places) << "all places taken, and none twice";
  EXPECT_EQ(report.flows.expired + report.flows.ended + report.flows.deleted, 0U);
  EXPECT_GE(report.flows.evicted, packets - places);
  EXPECT_LE(refused, packets / 1'000);
  EXPECT_GE(arrived, began * 19 / 20);
  EXPECT_TRUE(world.balancer().state().audit());
}

const std::vector<uint8_t> kSynAndMore = {kSyn, 0, kAck};

INSTANTIATE_TEST_SUITE_P(
    , flood,
    testing::Values(Flood{"of_syns", false, net::IpProtocol::kTcp, kSynOnly},
                    Flood{"of_syns_ipv6", true, net::IpProtocol::kTcp, kSynOnly},
                    Flood{"of_acks", false, net::IpProtocol::kTcp, {kAck}},
                    Flood{"of_syns_and_no_acks", false, net::IpProtocol::kTcp, {kSyn, 0}},
                    Flood{"of_syns_with_acks", false, net::IpProtocol::kTcp, {kSyn, kAck, kFin}},
                    Flood{"of_datagrams", false, net::IpProtocol::kUdp, {0}},
                    Flood{"of_two_datagrams", false, net::IpProtocol::kUdp, {0, 0}},
                    Flood{"of_three_datagrams", true, net::IpProtocol::kUdp, {0, 0, 0}}),
    [](const auto& one) { return one.param.name; });

// How many packets each invented client sends; to a sanitizer three are like one and two before.
#ifdef ROOST_SANITIZED
constexpr std::array<size_t, 1> kLengths = {3};
#else
constexpr std::array<size_t, 3> kLengths = {1, 2, 3};
#endif

std::vector<Flood> floods_in_modes() {
  std::vector<Flood> floods;
  for (const Mode mode : {Mode::kFullnat, Mode::kL2dsr, Mode::kIpip, Mode::kGue}) {
    const std::string name(mode_name(mode));
    for (const size_t packets : kLengths) {
      const std::vector<uint8_t> flags(kSynAndMore.begin(),
                                       kSynAndMore.begin() + static_cast<ptrdiff_t>(packets));
      const auto named = [&](const char* protocol) {
        return std::string(name).append(protocol).append(std::to_string(packets));
      };
      floods.push_back({named("_tcp_"), false, net::IpProtocol::kTcp, flags, mode, 5'000});
      floods.push_back({named("_udp_"), false, net::IpProtocol::kUdp, std::vector<uint8_t>(packets),
                        mode, 5'000});
    }
  }
  return floods;
}

INSTANTIATE_TEST_SUITE_P(in_modes, flood, testing::ValuesIn(floods_in_modes()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace roost::lb
