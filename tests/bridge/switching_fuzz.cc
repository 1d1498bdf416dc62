// Any bytes as a sequence of frames: a switch decides each, sends none back where it came from nor
// into a VLAN that it is not of, and its counts close.
//
// The input is cut into frames: a byte of flags, a byte of length, the frame. It is taken as it is,
// or as the recipe of a whole header between a few stations, so that most frames are known.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/assert.h"
#include "roost/bridge/switch_causes.h"
#include "roost/bridge/switching.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"
#include "tests/bridge/stations.h"

namespace {

using namespace roost;
using namespace roost::bridge;

constexpr uint16_t kPorts = 6;  // the last one is the mirror's
constexpr size_t kHeadroom = 8;
constexpr std::array<uint16_t, 4> kVlans = {10, 20, 30, 4094};

enum Flag : uint8_t {
  kPortMask = 7,
  kRecipe = 8,
  kSplit = 16,
  kNoHeadroom = 32,
  kTimePasses = 64,
  kOtherRules = 128,
};

SwitchConfig config(bool is_other) {
  SwitchConfig config{.drops_bpdus = is_other};
  config.ports.resize(kPorts);
  config.ports[0].vlans = {.untagged = 10, .tagged = {}};
  config.ports[1].vlans = {.untagged = 10, .tagged = {20, 30}};
  config.ports[2].vlans = {.untagged = std::nullopt, .tagged = {10, 20, 4094}};
  config.ports[3].vlans = {.untagged = 20, .tagged = {10}};
  config.ports[3].limits = {2, 2, 2};
  config.ports[4].vlans = {.untagged = is_other ? 30 : 20, .tagged = {}};
  config.ports[4].drops_not_learned = true;
  Mirror mirror{.to = kPorts - 1, .ports = net::PortSet::of(1), .vlans = std::vector<bool>(4'095)};
  mirror.vlans[20] = true;
  config.mirror = mirror;
  return config;
}

// A switch for a whole run: what earlier inputs left behind is part of the test.
struct Tested {
  std::array<std::shared_ptr<const SwitchRules>, 2> rules = {
      std::make_shared<const SwitchRules>(config(false)),
      std::make_shared<const SwitchRules>(config(true))};
  Fdb fdb = [] {
    Fdb::Config config = fdb_config(131'072, kPorts);
    config.learn_max[4] = 2;
    Fdb made = Fdb::create(config).value();
    ROOST_ASSERT(made.write().add_static(station(1), 2));
    ROOST_ASSERT(made.write().add_static(station(2), FdbValue::kNoPort));
    return made;
  }();
  FloodRates rates{kPorts};
  Switching switching{rules[0], fdb, rates, 0, 1};
  Tick now{};
  uint64_t frames = 0;
  uint64_t dropped = 0;
};

// A frame with a whole header: stations, group addresses and VLANs by a few bits each.
std::vector<uint8_t> frame_by_recipe(const uint8_t* data, size_t size) {
  std::vector<uint8_t> frame(net::ethernet::kHeaderBytes + net::vlan::kTagBytes + 46);
  const auto byte = [&](size_t i) { return i < size ? data[i] : uint8_t{0}; };
  const auto put_mac = [&](size_t at, uint8_t choice) {
    const net::MacAddress mac = station(choice & 15).mac();
    std::ranges::copy(mac.bytes, frame.begin() + static_cast<std::ptrdiff_t>(at));
    if ((choice & 0x30) == 0x30) frame[at] |= 1;
    if (choice == 0xFF) std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(at), 6, 0xFF);
    if (choice == 0xFE) {
      const std::array<uint8_t, 6> reserved = {0x01, 0x80, 0xC2, 0, 0, byte(3)};
      std::ranges::copy(reserved, frame.begin() + static_cast<std::ptrdiff_t>(at));
    }
  };
  put_mac(net::ethernet::kDestination, byte(0));
  put_mac(net::ethernet::kSource, byte(1));
  uint8_t* type = frame.data() + net::ethernet::kAddressesBytes;
  const uint8_t tag = byte(2);
  if ((tag & 1) != 0) {
    net::store_be16(type, (tag & 2) != 0 ? 0x88A8 : net::vlan::kCustomer);
    const uint16_t vlan = (tag & 4) != 0 ? 0 : kVlans[(tag >> 3) % kVlans.size()];
    net::store_be16(type + 2, static_cast<uint16_t>(vlan | (tag & 0xE0) << 8));
  }
  return frame;
}

struct Arrival {
  std::vector<uint8_t> buffer;
  net::Packet packet;
};

Arrival read_arrival(uint8_t flags, const uint8_t* data, size_t size) {
  const std::vector<uint8_t> frame = (flags & kRecipe) != 0
                                         ? frame_by_recipe(data, size)
                                         : std::vector<uint8_t>(data, data + size);
  Arrival arrival;
  arrival.buffer.resize(kHeadroom);
  arrival.buffer.insert(arrival.buffer.end(), frame.begin(), frame.end());
  const auto bytes = static_cast<uint32_t>(frame.size());
  arrival.packet = {.data = arrival.buffer.data() + kHeadroom,
                    .contiguous_bytes = (flags & kSplit) != 0 ? bytes / 2 : bytes,
                    .total_bytes = bytes,
                    .headroom = (flags & kNoHeadroom) != 0 ? 0 : uint32_t{kHeadroom},
                    .in_port = static_cast<uint16_t>((flags & kPortMask) % kPorts)};
  return arrival;
}

// Where a frame may go: ports of its VLAN but the one it came by, and the mirror's.
net::PortSet allowed_ports(const Tested& tested, const net::Packet& packet) {
  const VlanPorts& vlans = tested.switching.rules().vlans;
  const auto vlan = vlans.vlan_of(packet);
  ROOST_ASSERT(vlan && vlan->vlan != 0);
  return (vlans.ports_of(vlan->vlan) | net::PortSet::of(kPorts - 1)) -
         net::PortSet::of(packet.in_port);
}

void check(Tested& tested, const net::PacketBatch& batch, const std::vector<Arrival>& arrivals,
           const std::vector<net::PortSet>& allowed) {
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    const net::LaneVerdict verdict = batch.verdicts()[lane];
    ++tested.frames;
    if (verdict.is_drop()) {
      ++tested.dropped;
      ROOST_ASSERT(verdict.drop_cause() != net::DropCause::kUndecided);
      ROOST_ASSERT(std::ranges::any_of(kSwitchDropCauses, [&](const net::DropCauseInfo& info) {
        return info.cause == verdict.drop_cause();
      }));
      continue;
    }
    net::PortSet out{};
    if (verdict.is_forward()) {
      out = net::PortSet::of(verdict.out_port());
    } else {
      ROOST_ASSERT(verdict.is_replicated());
      for (const net::PortGroup& group : batch.port_groups(lane)) {
        ROOST_ASSERT((out & group.ports).empty() && !group.ports.empty());
        out |= group.ports;
      }
    }
    ROOST_ASSERT((out - allowed[lane]).empty());
    const net::Packet& packet = batch.packets()[lane];
    ROOST_ASSERT(packet.data >= arrivals[lane].buffer.data());
    ROOST_ASSERT(packet.data + packet.contiguous_bytes <=
                 arrivals[lane].buffer.data() + arrivals[lane].buffer.size());
  }
}

void check_counts(Tested& tested) {
  const SwitchCounters& counters = tested.switching.counters();
  ROOST_ASSERT(tested.frames - tested.dropped == counters.known_unicast + counters.unknown_unicast +
                                                     counters.broadcast + counters.multicast);
  static uint64_t inputs = 0;
  if (++inputs % 512 != 0) return;
  const LearnCounters& learned = tested.switching.learn_counters();
  auto writer = tested.fdb.write();
  ROOST_ASSERT(learned.learned + writer.counters().added ==
               learned.reclaimed + writer.counters().erased + writer.size());
  ROOST_ASSERT(!writer.table().audit());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Tested tested;
  if (size != 0) {
    std::shared_ptr<const SwitchRules> rules = tested.rules[(data[0] & kOtherRules) != 0 ? 1 : 0];
    tested.switching.exchange(rules);
  }
  std::vector<Arrival> arrivals;
  while (size >= 2 && arrivals.size() < net::kBatchLanesMax) {
    const uint8_t flags = data[0];
    const size_t frame_bytes = std::min<size_t>(data[1], size - 2);
    arrivals.push_back(read_arrival(flags, data + 2, frame_bytes));
    if ((flags & kTimePasses) != 0) tested.now.count += uint64_t{1} << (flags >> 3 & 7);
    data += 2 + frame_bytes;
    size -= 2 + frame_bytes;
  }
  if (arrivals.empty()) return 0;
  net::PacketBatch batch;
  std::vector<net::PortSet> allowed;
  for (const Arrival& arrival : arrivals) {
    batch.push(arrival.packet);
    const bool is_whole =
        arrival.packet.contiguous_bytes >= net::ethernet::kHeaderBytes + net::vlan::kTagBytes;
    const auto vlan = is_whole ? tested.switching.rules().vlans.vlan_of(arrival.packet)
                               : std::optional<FrameVlan>();
    allowed.push_back(vlan && vlan->vlan != 0
                          ? allowed_ports(tested, arrival.packet)
                          : net::PortSet::below(kPorts) - net::PortSet::of(arrival.packet.in_port));
  }
  tested.switching.process(batch, tested.now);
  tested.switching.idle(tested.now, 64);
  check(tested, batch, arrivals, allowed);
  check_counts(tested);
  return 0;
}
