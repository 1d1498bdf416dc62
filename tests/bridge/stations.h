// Stations, databases and lookups of bridge tests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/hit_words.h"
#include "roost/bridge/fdb.h"
#include "roost/bridge/learner.h"

namespace roost::bridge {

inline constexpr uint16_t kVlan = 10;
inline constexpr uint64_t kStaticMax = 16;
inline constexpr uint64_t kAgeingTicks = 320;  // 20 a sixteenth

[[nodiscard]] inline FdbKey station(uint64_t number, uint16_t vlan = kVlan) {
  return {vlan, number * 256};
}

[[nodiscard]] inline Fdb::Config fdb_config(uint64_t entries_max, size_t port_count) {
  return {.entries_max = entries_max,
          .static_max = kStaticMax,
          .learn_max = std::vector<std::optional<uint64_t>>(port_count),
          .ageing_ticks = kAgeingTicks,
          .tick_seconds = 1,
          .hash_seed = 7};
}

// The port that frames for a station leave by.
[[nodiscard]] inline std::optional<uint16_t> port_of(const Fdb& fdb, const FdbKey& key, Tick now) {
  FdbValue value;
  HitArray<1> hits;
  fdb.reader().lookup(std::span(&key, 1), std::span(&value, 1), hits);
  if (!hits.test(0) || Ageing::is_unknown(value, fdb.ageing().sixteenth(now))) return std::nullopt;
  return value.port();
}

// What a worker does with frames of these stations, all from one port; the frames of stations that
// were refused, a bit each.
inline uint32_t frames_from(Learner& learner, std::span<const FdbKey> keys, uint16_t port,
                            Tick now) {
  std::array<FdbValue, Learner::kSourcesMax> values;
  std::array<uint16_t, Learner::kSourcesMax> ports;
  ports.fill(port);
  HitArray<Learner::kSourcesMax> hits;
  learner.look_up(learner.start(keys), values, hits);
  return learner.learn({.keys = keys, .ports = ports, .values = values, .hits = hits}, now);
}
inline bool frame_from(Learner& learner, const FdbKey& key, uint16_t port, Tick now) {
  return frames_from(learner, std::span(&key, 1), port, now) == 0;
}

}  // namespace roost::bridge
