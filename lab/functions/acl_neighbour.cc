// A neighbour of HALO's figure 12: an access list, by DPDK's library for it. Each packet's header
// is read out of its frame, matched with six rules, and its destination looked up among one route.
//
//   roost_lab_acl_neighbour
//
// Says "ready" when all answers were right, and goes on until it is ended: neighbour_trace.py has
// valgrind write what it does to memory from there on. DPDK is linked statically: a shared one
// loads all drivers at its start, tenfold the instructions.
#include <rte_lpm.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "lab/contestants/eal.h"
#include "lab/functions/acl_filter.h"
#include "lab/functions/rules.h"
#include "roost/net/byte_order.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

constexpr uint64_t kHeapBytes = uint64_t{96} << 20;  // the route table's first level takes 64
constexpr size_t kPackets = 4096;
constexpr size_t kLanes = 32;
constexpr uint8_t kRouteBits = 16;
constexpr uint32_t kRoute = 10U << 24 | 20U << 16;
constexpr uint32_t kNextHop = 7;
constexpr uint32_t kHopBits = (1U << 24) - 1;  // of what is looked up

// An IPv4 header without options and the ports behind it, behind an Ethernet header; a line each.
struct alignas(64) Frame {
  std::array<uint8_t, 64> bytes{};
};
static_assert(sizeof(Frame) == 64);
constexpr size_t kProtocolAt = 23;
constexpr size_t kSourceAt = 26;
constexpr size_t kDestinationAt = 30;
constexpr size_t kSourcePortAt = 34;
constexpr size_t kDestinationPortAt = 36;

net::IpPrefix network(std::array<uint8_t, 4> bytes, uint8_t bits) {
  return {net::IpAddress(net::Ipv4Address{bytes}), bits};
}

// Each leaves out something else. All destinations are the route's.
std::vector<acl::RuleConfig> six_rules() {
  const acl::RuleSide all{.networks = {network({10, 20, 0, 0}, kRouteBits)}};
  const auto tcp = static_cast<uint8_t>(net::IpProtocol::kTcp);
  const auto udp = static_cast<uint8_t>(net::IpProtocol::kUdp);
  return {{.from = {.networks = {network({192, 0, 2, 0}, 24)}},
           .to = {.networks = {network({10, 20, 1, 0}, 24)}},
           .protocol = tcp,
           .ports = {{80, 80}}},
          {.from = {.networks = {network({198, 51, 100, 0}, 24)}},
           .to = all,
           .protocol = udp,
           .ports = {{53, 53}}},
          {.to = {.networks = {network({10, 20, 3, 7}, 32)}}, .protocol = tcp},
          {.from = {.networks = {network({203, 0, 113, 9}, 32)}},
           .to = all,
           .ports = {{1024, UINT16_MAX}}},
          {.to = {.networks = {network({10, 20, 64, 0}, 18)}}, .protocol = udp},
          {.to = all}};
}

Frame frame_of(const net::FlowKey4& key) {
  Frame frame;
  frame.bytes[kProtocolAt] = static_cast<uint8_t>(key.protocol);
  std::memcpy(&frame.bytes[kSourceAt], key.source.bytes.data(), 4);
  std::memcpy(&frame.bytes[kDestinationAt], key.destination.bytes.data(), 4);
  net::store_be16(&frame.bytes[kSourcePortAt], key.source_port);
  net::store_be16(&frame.bytes[kDestinationPortAt], key.destination_port);
  return frame;
}

net::FlowKey4 key_of(const Frame& frame) {
  net::FlowKey4 key{};
  key.protocol = static_cast<net::IpProtocol>(frame.bytes[kProtocolAt]);
  std::memcpy(key.source.bytes.data(), &frame.bytes[kSourceAt], 4);
  std::memcpy(key.destination.bytes.data(), &frame.bytes[kDestinationAt], 4);
  key.source_port = net::load_be16(&frame.bytes[kSourcePortAt]);
  key.destination_port = net::load_be16(&frame.bytes[kDestinationPortAt]);
  return key;
}

struct Counts {
  std::array<uint64_t, 6> by_rule{};
  uint64_t routed = 0;
};

class AccessList {
 public:
  AccessList(const AclFilter& filter, rte_lpm& routes) : filter_(filter), routes_(routes) {}

  void pass(std::span<const Frame> frames, Counts& counts) const {
    std::array<AclFilter::Tuple, kLanes> tuples;
    std::array<const AclFilter::Tuple*, kLanes> pointers;
    std::array<uint32_t, kLanes> destinations;
    std::array<uint32_t, kLanes> places;
    std::array<uint32_t, kLanes> hops;
    for (size_t i = 0; i < kLanes; ++i) {
      const net::FlowKey4 key = key_of(frames[i]);
      tuples[i] = AclFilter::tuple_of(key);
      pointers[i] = &tuples[i];
      destinations[i] = net::load_be32(key.destination.bytes.data());
    }
    filter_.find(pointers, places);
    (void)rte_lpm_lookup_bulk(&routes_, destinations.data(), hops.data(), kLanes);
    for (size_t i = 0; i < kLanes; ++i) {
      ++counts.by_rule.at(places[i]);
      const bool is_routed = (hops[i] & RTE_LPM_LOOKUP_SUCCESS) != 0;
      counts.routed += is_routed && (hops[i] & kHopBits) == kNextHop ? 1U : 0U;
    }
  }

 private:
  const AclFilter& filter_;
  rte_lpm& routes_;
};

int complain(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  return 1;
}

int run() {
  const auto eal = Eal::start({.core = 0, .pages = PageKind::kSmall, .memory_bytes = kHeapBytes});
  if (!eal) return complain(eal.error().message.c_str());
  const std::vector<acl::RuleConfig> rules = six_rules();
  const auto filter = AclFilter::create(rules);
  if (!filter) return complain(filter.error().message.c_str());
  const rte_lpm_config config{.max_rules = 1, .number_tbl8s = 1, .flags = 0};
  const std::unique_ptr<rte_lpm, decltype(&rte_lpm_free)> routes(
      rte_lpm_create("routes", SOCKET_ID_ANY, &config), &rte_lpm_free);
  if (routes == nullptr || rte_lpm_add(routes.get(), kRoute, kRouteBits, kNextHop) != 0)
    return complain("rte_lpm has no memory for a route");
  std::vector<Frame> frames;
  traffic::Draw draw(1);
  for (size_t i = 0; i < kPackets; ++i)
    frames.push_back(frame_of(draw_key(rules[draw.below(rules.size())], draw)));
  const AccessList list(filter.value(), *routes);
  for (bool is_ready = false;; is_ready = true) {
    Counts counts;
    for (size_t at = 0; at < kPackets; at += kLanes)
      list.pass(std::span(frames).subspan(at, kLanes), counts);
    for (const uint64_t count : counts.by_rule)
      if (count == 0) return complain("a rule has no packet");
    if (counts.routed != kPackets) return complain("a packet has no route");
    if (is_ready) continue;
    std::puts("ready");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace roost::lab

int main() { return roost::lab::run(); }
