#include "roost/bridge/frame_path.h"

#include <algorithm>
#include <utility>

#include "roost/bridge/ageing.h"
#include "roost/bridge/switch_causes.h"
#include "roost/net/headers.h"
#include "roost/net/rewrite.h"

namespace roost::bridge {

namespace {

constexpr uint64_t kBroadcastMac = FdbKey::kMacMask;
// 01:80:c2:00:00:0x, as the bytes stand in a word; x says which (IEEE 802.1Q table 8-1).
constexpr uint64_t kReservedMac = 0x0000'00C2'8001;
constexpr uint64_t kReservedMask = FdbKey::kMacMask >> 8 | uint64_t{0xF0} << 40;

// Of a packet whose first segment ends before so many bytes.
[[nodiscard]] net::LaneVerdict ends_before(const net::Packet& packet, size_t bytes) {
  return net::drop(packet.total_bytes < bytes ? net::DropCause::kTruncated
                                              : net::DropCause::kSplitHeaders);
}

[[nodiscard]] std::vector<VlanPorts::Port> vlans_of(const SwitchConfig& config) {
  std::vector<VlanPorts::Port> ports;
  for (const SwitchPort& port : config.ports) ports.push_back(port.vlans);
  return ports;
}

constexpr std::array kStormCauses = {kBroadcastStorm, kMulticastStorm, kUnknownUnicastStorm};

}  // namespace

SwitchRules::SwitchRules(SwitchConfig switch_config)
    : config(std::move(switch_config)),
      vlans(vlans_of(config)),
      mtu_min(std::ranges::min(config.ports, {}, &SwitchPort::mtu).mtu) {}

void FramePath::decide(net::PacketBatch& batch, const Frames& frames, uint32_t not_learned,
                       uint64_t sixteenth, Tick now) {
  const auto second = static_cast<uint32_t>(second_of(now, rules_->config.tick_seconds));
  for (size_t i = 0; i < frames.count; ++i) {
    net::LaneVerdict& verdict = batch.verdicts()[frames.lanes[i]];
    const bool is_refused = (not_learned >> i & 1) != 0;
    if (is_refused && rules_->config.ports[frames.ports[i]].drops_not_learned) {
      verdict = net::drop(kNotLearned);
    } else {
      verdict = decide_one(batch, frames, i, sixteenth, second);
    }
  }
}

void FramePath::read(net::PacketBatch& batch, Frames& frames) const {
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    const net::Packet& packet = batch.packets()[lane];
    net::LaneVerdict& verdict = batch.verdicts()[lane];
    if (packet.contiguous_bytes < net::ethernet::kHeaderBytes) {
      verdict = ends_before(packet, net::ethernet::kHeaderBytes);
      continue;
    }
    const uint64_t source = FdbKey::load_mac(packet.data + net::ethernet::kSource);
    const uint64_t destination = FdbKey::load_mac(packet.data + net::ethernet::kDestination);
    if (source == 0 || FdbKey::is_group(source)) {
      verdict = net::drop(kBadSource);
      continue;
    }
    if ((destination & kReservedMask) == kReservedMac &&
        (destination != kReservedMac || rules_->config.drops_bpdus)) {
      verdict = net::drop(destination == kReservedMac ? kBpdu : kLinkLocal);
      continue;
    }
    const std::optional<FrameVlan> vlan = rules_->vlans.vlan_of(packet);
    if (!vlan) {
      verdict = ends_before(packet, net::ethernet::kHeaderBytes + net::vlan::kTagBytes);
      continue;
    }
    if (vlan->vlan == 0) {
      verdict = net::drop(net::DropCause::kWrongVlan);
      continue;
    }
    frames.lanes[frames.count] = static_cast<uint8_t>(lane);
    frames.ports[frames.count] = packet.in_port;
    frames.vlans[frames.count] = *vlan;
    frames.keys[frames.count] = FdbKey(vlan->vlan, source);
    frames.keys[Frames::kMax + frames.count] = FdbKey(vlan->vlan, destination);
    ++frames.count;
  }
  // Destinations stand behind the sources.
  std::copy_n(frames.keys.begin() + Frames::kMax, frames.count,
              frames.keys.begin() + static_cast<std::ptrdiff_t>(frames.count));
}

net::LaneVerdict FramePath::decide_one(net::PacketBatch& batch, const Frames& frames, size_t i,
                                       uint64_t sixteenth, uint32_t second) {
  const size_t to = frames.count + i;
  if (frames.hits.test(i) && frames.values[i] == FdbValue::fixed(FdbValue::kNoPort))
    return net::drop(kStaticDrop);
  const FdbValue value = frames.values[to];
  if (frames.hits.test(to) && !Ageing::is_unknown(value, sixteenth)) {
    if (value.port() == FdbValue::kNoPort) return net::drop(kStaticDrop);
    if (value.port() == frames.ports[i]) return net::drop(kSamePort);
    // After an exchange of rules, until its entry is flushed, a station is at a port without its
    // VLAN.
    if (rules_->vlans.ports_of(frames.vlans[i].vlan).has(value.port()))
      return send(batch, frames, i, net::PortSet::of(value.port()), counters_.known_unicast);
  }
  const uint64_t destination = frames.keys[to].mac_word();
  if (destination == kBroadcastMac) return flood(batch, frames, i, Flooded::kBroadcast, second);
  return flood(batch, frames, i,
               FdbKey::is_group(destination) ? Flooded::kMulticast : Flooded::kUnknownUnicast,
               second);
}

net::LaneVerdict FramePath::flood(net::PacketBatch& batch, const Frames& frames, size_t i,
                                  Flooded kind, uint32_t second) {
  constexpr std::array<uint64_t SwitchCounters::*, kFloodedKinds> kCounters = {
      &SwitchCounters::broadcast, &SwitchCounters::multicast, &SwitchCounters::unknown_unicast};
  const uint16_t in_port = frames.ports[i];
  const auto number = static_cast<size_t>(kind);
  const net::PortSet ports =
      rules_->vlans.ports_of(frames.vlans[i].vlan) - net::PortSet::of(in_port);
  if (ports.empty()) return net::drop(kNoOtherPort);
  if (const auto limit = rules_->config.ports[in_port].limits[number];
      limit && !rates_.of(in_port, kind).take(second, *limit)) {
    return net::drop(kStormCauses[number]);
  }
  return send(batch, frames, i, ports, counters_.*kCounters[number]);
}

const Mirror* FramePath::mirror_of(const Frames& frames, size_t i, net::PortSet ports,
                                   size_t payload_bytes) const {
  if (!rules_->config.mirror) return nullptr;
  const Mirror& mirror = *rules_->config.mirror;
  if (ports.has(mirror.to) || mirror.to == frames.ports[i]) return nullptr;
  const bool is_mirrored = mirror.ports.has(frames.ports[i]) || !(mirror.ports & ports).empty() ||
                           mirror.vlans[frames.vlans[i].vlan];
  const bool has_room = payload_bytes <= rules_->config.ports[mirror.to].mtu;
  return is_mirrored && has_room ? &mirror : nullptr;
}

net::PortSet FramePath::fitting(net::PortSet ports, size_t payload_bytes) const {
  if (payload_bytes <= rules_->mtu_min) [[likely]]
    return ports;
  net::PortSet fitting{};
  for (const unsigned port : ports)
    fitting |= net::PortSet::of(port, payload_bytes <= rules_->config.ports[port].mtu);
  return fitting;
}

// By ports that have the frame's VLAN.
net::LaneVerdict FramePath::send(net::PacketBatch& batch, const Frames& frames, size_t i,
                                 net::PortSet ports, uint64_t& sent) {
  const FrameVlan& vlan = frames.vlans[i];
  const size_t lane = frames.lanes[i];
  const size_t payload_bytes = batch.packets()[lane].total_bytes - net::ethernet::kHeaderBytes -
                               (vlan.has_tag ? net::vlan::kTagBytes : 0);
  ports = fitting(ports, payload_bytes);
  if (ports.empty()) return net::drop(net::DropCause::kTooBig);
  const net::PortSet untagged = ports & rules_->vlans.untagged_ports(vlan.vlan);
  std::array<net::PortGroup, 3> groups;
  size_t count = 0;
  if (!untagged.empty()) groups[count++] = VlanPorts::untagged_group(vlan, untagged);
  if (const net::PortSet tagged = ports - untagged; !tagged.empty())
    groups[count++] = VlanPorts::tagged_group(vlan, tagged);
  const Mirror* mirror = mirror_of(frames, i, ports, payload_bytes);
  if (count == 1 && mirror == nullptr && ports.count() == 1) {
    if (!net::edit_vlan_tags(batch.packets()[lane], groups[0].popped, groups[0].pushed))
      return net::drop(net::DropCause::kNoHeadroom);
    ++sent;
    return net::LaneVerdict::forward(static_cast<uint16_t>(ports.lowest()));
  }
  if (mirror != nullptr) {
    const net::PortGroup as_it_came{.ports = net::PortSet::of(mirror->to)};
    const auto alike = std::find_if(groups.begin(), groups.begin() + count, [](const auto& group) {
      return group.popped == 0 && group.pushed.count == 0;
    });
    if (alike != groups.begin() + count) {
      alike->ports |= as_it_came.ports;
    } else {
      groups[count++] = as_it_came;
    }
  }
  const size_t bytes_needed = groups[0].pushed.count * net::vlan::kTagBytes;
  const size_t bytes_there =
      batch.packets()[lane].headroom + groups[0].popped * net::vlan::kTagBytes;
  if (bytes_needed > bytes_there) return net::drop(net::DropCause::kNoHeadroom);
  ++sent;
  if (mirror != nullptr) ++counters_.mirrored;
  batch.replicate(lane, std::span(groups).first(count));
  return batch.verdicts()[lane];
}

}  // namespace roost::bridge
