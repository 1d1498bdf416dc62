// Where frames go, by their VLANs and by what was found in a forwarding database, wherever that is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/base/hit_words.h"
#include "roost/bridge/fdb_entry.h"
#include "roost/bridge/vlan_ports.h"
#include "roost/concurrent/rate_limit.h"
#include "roost/expiry/tick.h"
#include "roost/net/packet_batch.h"

namespace roost::bridge {

// Frames that leave by all ports of a VLAN.
enum class Flooded : uint8_t { kBroadcast, kMulticast, kUnknownUnicast };
inline constexpr size_t kFloodedKinds = 3;

// Of a port, frames a second of each kind; beyond that they are dropped.
using FloodLimits = std::array<std::optional<uint32_t>, kFloodedKinds>;

struct SwitchPort {
  VlanPorts::Port vlans{};
  FloodLimits limits{};
  bool drops_not_learned = false;  // frames of stations that it had no room to learn
  uint16_t mtu = 1500;  // most bytes behind the header, and behind a tag, of what it sends
};

// A port that gets what others receive and send, as it came in.
struct Mirror {
  uint16_t to = 0;
  net::PortSet ports{};
  std::vector<bool> vlans{};  // by number, up to kVlanMax
};

struct SwitchConfig {
  std::vector<SwitchPort> ports{};
  std::optional<Mirror> mirror{};
  bool drops_bpdus = false;
  double tick_seconds = 1;
};

// What a switch does, as it was told, and what follows of that. Workers exchange it while they run.
struct SwitchRules {
  explicit SwitchRules(SwitchConfig switch_config);

  SwitchConfig config;
  VlanPorts vlans;
  uint16_t mtu_min;  // of all ports
};

// What all workers of a switch share beside the database.
class FloodRates {
 public:
  explicit FloodRates(size_t port_count) : rates_(port_count * kFloodedKinds) {}
  [[nodiscard]] RateLimit& of(uint16_t port, Flooded kind) {
    return rates_[port * kFloodedKinds + static_cast<size_t>(kind)];
  }

 private:
  std::vector<RateLimit> rates_;
};

struct SwitchCounters {
  uint64_t known_unicast = 0;
  uint64_t unknown_unicast = 0;
  uint64_t broadcast = 0;
  uint64_t multicast = 0;
  uint64_t mirrored = 0;
};

inline constexpr std::array kSwitchCounters = {
    Counter{"known_unicast", &SwitchCounters::known_unicast,
            "frames for a station whose port is known"},
    Counter{"unknown_unicast", &SwitchCounters::unknown_unicast,
            "frames for an unknown station, which left by all ports of their VLAN"},
    Counter{"broadcast", &SwitchCounters::broadcast,
            "broadcast frames, which left by all ports of their VLAN"},
    Counter{"multicast", &SwitchCounters::multicast,
            "multicast frames, which left by all ports of their VLAN"},
    Counter{"mirrored", &SwitchCounters::mirrored, "frames of which the mirror's port got a copy"},
};

// The frames of a batch that are to be forwarded, side by side: filled by FramePath::read(), looked
// up by its caller.
struct Frames {
  static constexpr size_t kMax = net::kBatchLanesMax;
  size_t count = 0;
  std::array<uint8_t, kMax> lanes;
  std::array<uint16_t, kMax> ports;
  std::array<FrameVlan, kMax> vlans;
  std::array<FdbKey, 2 * kMax> keys;  // `count` sources, then as many destinations
  std::array<FdbValue, 2 * kMax> values;
  HitArray<2 * kMax> hits;

  [[nodiscard]] std::span<const FdbKey> all_keys() const {
    return std::span(keys).first(2 * count);
  }
};

// A worker's.
class FramePath {
 public:
  // The rates must outlive it.
  FramePath(std::shared_ptr<const SwitchRules> rules, FloodRates& rates)
      : rules_(std::move(rules)), rates_(rates) {}

  // Other rules for as many ports, between two batches; `rules` are those of before afterwards.
  void exchange(std::shared_ptr<const SwitchRules>& rules) { std::swap(rules_, rules); }
  [[nodiscard]] const SwitchRules& rules() const { return *rules_; }

  // Reads the headers of a batch. Frames that no port gets are dropped already.
  void read(net::PacketBatch& batch, Frames& frames) const;

  // Decides the frames, which have been looked up. `not_learned`: a bit each, of those whose
  // stations there was no room to learn.
  void decide(net::PacketBatch& batch, const Frames& frames, uint32_t not_learned,
              uint64_t sixteenth, Tick now);

  [[nodiscard]] const SwitchCounters& counters() const { return counters_; }

 private:
  [[nodiscard]] net::LaneVerdict decide_one(net::PacketBatch& batch, const Frames& frames, size_t i,
                                            uint64_t sixteenth, uint32_t second);
  [[nodiscard]] net::LaneVerdict flood(net::PacketBatch& batch, const Frames& frames, size_t i,
                                       Flooded kind, uint32_t second);
  // Those of these ports that a frame with so many bytes behind its header may leave by.
  [[nodiscard]] net::PortSet fitting(net::PortSet ports, size_t payload_bytes) const;
  // Counts it in `sent` unless it is dropped.
  [[nodiscard]] net::LaneVerdict send(net::PacketBatch& batch, const Frames& frames, size_t i,
                                      net::PortSet ports, uint64_t& sent);
  // The mirror, if it gets the frame too; else null.
  [[nodiscard]] const Mirror* mirror_of(const Frames& frames, size_t i, net::PortSet ports,
                                        size_t payload_bytes) const;

  std::shared_ptr<const SwitchRules> rules_;
  FloodRates& rates_;
  SwitchCounters counters_{};
};

}  // namespace roost::bridge
