// Switches of the measured network: ours, which learns, and the same one on any other table, which
// knows all stations beforehand and learns none.
//
// Each class here is one worker's function, as a program has it (apps/switch/datapath).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "lab/harness/contestant.h"
#include "lab/switch/stations.h"
#include "roost/base/result.h"
#include "roost/bridge/fdb.h"
#include "roost/bridge/frame_path.h"
#include "roost/bridge/switching.h"
#include "roost/net/outbox.h"
#include "roost/node/worker_loop.h"
#include "roost/traffic/key.h"

namespace roost::lab {

// Two ports with one VLAN.
[[nodiscard]] inline std::shared_ptr<const bridge::SwitchRules> two_port_rules() {
  bridge::SwitchConfig config;
  config.ports.resize(2);
  for (bridge::SwitchPort& port : config.ports) port.vlans.untagged = kStationVlan;
  return std::make_shared<const bridge::SwitchRules>(std::move(config));
}

// What every worker's function here has.
class SwitchFunction {
 public:
  [[nodiscard]] net::Outbox& outbox() { return outbox_; }

 private:
  net::Outbox outbox_{{.frame_count_max = 1, .bytes_max = 64}};
};

// Ours.
class LearningSwitch : public SwitchFunction {
 public:
  // What all workers share.
  struct Shared {
    bridge::Fdb fdb;
    bridge::FloodRates rates{2};
  };
  static Result<std::shared_ptr<Shared>> create_shared(uint64_t stations, PageKind pages,
                                                       uint64_t seed) {
    auto fdb =
        bridge::Fdb::create({.entries_max = stations, .learn_max = {{}, {}}, .hash_seed = seed});
    if (!fdb) return fdb.error();
    constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
    const auto& table = fdb.value().write().table();
    if (pages == PageKind::kHuge2MiB && table.page_kind() != pages &&
        table.memory_bytes() >= kHugePageBytes) {
      return Error{"its database is on pages of " + std::string(page_kind_name(table.page_kind()))};
    }
    return std::make_shared<Shared>(Shared{std::move(fdb).value()});
  }
  static bool add(Shared& shared, uint64_t station) {
    return shared.fdb.write().learn(key_of_station(station), port_of_station(station), Tick{}) ==
           bridge::Learned::kNew;
  }
  static bool erase(Shared& shared, uint64_t station) {
    return shared.fdb.write().erase(key_of_station(station));
  }
  [[nodiscard]] static uint64_t memory_bytes(Shared& shared) {
    return shared.fdb.write().table().memory_bytes();
  }

  LearningSwitch(std::shared_ptr<Shared> shared, size_t worker, size_t worker_count)
      : shared_(std::move(shared)),
        switching_(two_port_rules(), shared_->fdb, shared_->rates, worker, worker_count) {}

  using Started = bridge::Switching::Started;
  void start(net::PacketBatch& batch, Started& started) const { switching_.start(batch, started); }
  void finish(net::PacketBatch& batch, Started& started, Tick now) {
    switching_.finish(batch, started, now);
  }
  void process(net::PacketBatch& batch, Tick now) { switching_.process(batch, now); }
  void idle(Tick now, uint64_t budget) { switching_.idle(now, budget); }
  [[nodiscard]] const bridge::SwitchCounters& counters() const { return switching_.counters(); }

 private:
  std::shared_ptr<Shared> shared_;
  bridge::Switching switching_;
};

static_assert(node::HasTwoPhases<LearningSwitch>);

// Whether the frames of a burst are all looked up before the first is decided, or one is after the
// other.
enum class Bursts { kWhole, kFrameByFrame };

// On a contestant for keys of 48 bits and values of 16. It answers so many keys a call.
template <class Table, size_t kLanes, Bursts kBursts = Bursts::kWhole>
class TableSwitch : public SwitchFunction {
  static_assert(sizeof(traffic::Value16) == sizeof(bridge::FdbValue));

 public:
  struct Shared {
    Table table;
    bridge::FloodRates rates{2};
  };
  static Result<std::shared_ptr<Shared>> create_shared(uint64_t stations, PageKind pages,
                                                       uint64_t) {
    auto table = Table::create(slots_for(stations), pages);
    if (!table) return table.error();
    return std::make_shared<Shared>(Shared{std::move(table).value()});
  }
  static bool add(Shared& shared, uint64_t station) {
    const auto value =
        std::bit_cast<traffic::Value16>(bridge::FdbValue::learned(port_of_station(station), 0));
    return shared.table.insert({key_of_station(station).mac_word()}, value);
  }
  static bool erase(Shared& shared, uint64_t station) {
    return shared.table.erase({key_of_station(station).mac_word()});
  }
  [[nodiscard]] static uint64_t memory_bytes(Shared& shared) { return shared.table.memory_bytes(); }

  TableSwitch(std::shared_ptr<Shared> shared, size_t, size_t)
      : shared_(std::move(shared)), path_(two_port_rules(), shared_->rates) {}

  void process(net::PacketBatch& batch, Tick now) {
    if constexpr (kBursts == Bursts::kWhole) {
      decide(batch, now);
    } else {
      net::PacketBatch single;
      for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
        single.clear();
        single.push(batch.packets()[lane]);
        decide(single, now);
        batch.verdicts()[lane] = single.verdicts()[0];
      }
    }
  }
  void idle(Tick, uint64_t) {}
  [[nodiscard]] const bridge::SwitchCounters& counters() const { return path_.counters(); }
  [[nodiscard]] uint64_t not_known_count() const { return not_known_count_; }

 private:
  void decide(net::PacketBatch& batch, Tick now) {
    bridge::Frames frames;
    path_.read(batch, frames);
    look_up(frames);
    uint32_t not_known = 0;  // as a learner sees to it
    for (size_t i = 0; i < frames.count; ++i) {
      const bool is_known = frames.hits.test(i) && frames.values[i].port() == frames.ports[i];
      not_known |= uint32_t{!is_known} << i;
    }
    not_known_count_ += static_cast<uint64_t>(std::popcount(not_known));
    path_.decide(batch, frames, 0, 0, now);
  }

  static uint16_t value_word(const traffic::Value16& answer) { return answer.word; }
  static uint16_t value_word(const void* answer) {
    return static_cast<uint16_t>(reinterpret_cast<uintptr_t>(answer));
  }
  // At the load that ours promises, as slots are counted by all.
  static uint64_t slots_for(uint64_t stations) { return stations + stations / 19; }

  void look_up(bridge::Frames& frames) {
    const size_t count = 2 * frames.count;
    std::array<KeyOf<Table>, 2 * bridge::Frames::kMax> keys;
    std::array<typename Table::Answer, 2 * bridge::Frames::kMax> answers;
    for (size_t i = 0; i < count; ++i) keys[i] = {frames.keys[i].mac_word()};
    for (size_t first = 0; first < count; first += kLanes) {
      const size_t lanes = std::min(kLanes, count - first);
      HitArray<kLanes> hits;
      shared_->table.lookup(std::span(keys).subspan(first, lanes),
                            std::span(answers).subspan(first, lanes), hits);
      for (size_t i = 0; i < lanes; ++i) {
        if (!hits.test(i)) continue;
        HitWords(frames.hits).set(first + i);
        frames.values[first + i] = std::bit_cast<bridge::FdbValue>(value_word(answers[first + i]));
      }
    }
  }

  std::shared_ptr<Shared> shared_;
  bridge::FramePath path_;
  uint64_t not_known_count_ = 0;
};

}  // namespace roost::lab
