// What a switch does with frames: where each one goes, by its VLAN and the forwarding database.
//
// A batch is three steps: the headers of its frames, one lookup of all sources and destinations,
// and a verdict for each. Between the last two, stations that are new here are learned, so that a
// frame is forwarded by what was known before the batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/counter.h"
#include "roost/bridge/fdb.h"
#include "roost/bridge/learner.h"
#include "roost/bridge/switch_causes.h"
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

// A worker's.
class Switching {
 public:
  // All must outlive it.
  Switching(const SwitchConfig& config, Fdb& fdb, FloodRates& rates, size_t worker,
            size_t worker_count);

  // Decides every lane of a batch.
  void process(net::PacketBatch& batch, Tick now);
  void idle(Tick now, uint64_t bucket_budget) { learner_.reclaim(now, bucket_budget); }

  [[nodiscard]] const SwitchCounters& counters() const { return counters_; }
  [[nodiscard]] const LearnCounters& learn_counters() const { return learner_.counters(); }

 private:
  // The frames of a batch that are to be forwarded, side by side.
  struct Frames {
    static constexpr size_t kMax = net::kBatchLanesMax;
    size_t count = 0;
    std::array<uint8_t, kMax> lanes;
    std::array<uint16_t, kMax> ports;
    std::array<FrameVlan, kMax> vlans;
    std::array<FdbKey, 2 * kMax> keys;  // sources, then destinations
    std::array<FdbValue, 2 * kMax> values;
    HitArray<2 * kMax> hits;
  };

  void read(net::PacketBatch& batch, Frames& frames) const;
  [[nodiscard]] net::LaneVerdict decide(net::PacketBatch& batch, const Frames& frames, size_t i,
                                        uint64_t sixteenth, uint32_t second);
  [[nodiscard]] net::LaneVerdict flood(net::PacketBatch& batch, const Frames& frames, size_t i,
                                       Flooded kind, uint32_t second);
  [[nodiscard]] net::LaneVerdict send(net::PacketBatch& batch, const Frames& frames, size_t i,
                                      net::PortSet ports);
  // The mirror, if it gets the frame too; else null.
  [[nodiscard]] const Mirror* mirror_of(const Frames& frames, size_t i, net::PortSet ports) const;

  const SwitchConfig& config_;
  VlanPorts vlans_;
  FloodRates& rates_;
  const Ageing& ageing_;
  Learner learner_;
  SwitchCounters counters_{};
};

}  // namespace roost::bridge
