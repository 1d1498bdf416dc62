#include "lab/functions/lookup_ways_job.h"

#include <fmt/format.h>
#include <rte_hash.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lab/contestants/rte_hash_handle.h"
#include "lab/harness/pinned_core.h"
#include "lab/lb/flows.h"
#include "lab/lb/frame_batch.h"
#include "roost/assets/frame_source.h"
#include "roost/base/hit_words.h"
#include "roost/net/flow_key.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"
#include "roost/table/flow_table.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

constexpr size_t kWayLanes = net::kBatchLanesMax;
constexpr uint64_t kNoValue = 0;  // of a packet that has no entry

// What a function asks of a packet, and does with the answer; values count from 1.
class NatWork {
 public:
  using Key = net::FlowKey4;
  static constexpr bool kHasStrangers = false;

  explicit NatWork(size_t) {}
  static Key key_of(const net::Packet& packet, const net::ParsedPacket& parsed, net::ParseVerdict) {
    return Key::from_packet(packet, parsed);
  }
  static void act(const net::Packet& packet, net::ParsedPacket& parsed, uint64_t value) {
    const net::Endpoint4 external{{198, 51, 100, static_cast<uint8_t>(value >> 16)},
                                  static_cast<uint16_t>(value)};
    net::rewrite_source(packet, parsed, external);
  }
};

class AssetsWork {
 public:
  using Key = assets::HostKey;
  static constexpr bool kHasStrangers = false;

  explicit AssetsWork(size_t entries) : last_seen_(entries + 1) {}
  static Key key_of(const net::Packet& packet, const net::ParsedPacket& parsed,
                    net::ParseVerdict verdict) {
    return assets::read_frame_source(packet, parsed, verdict).host.value_or(Key{});
  }
  void act(const net::Packet&, net::ParsedPacket&, uint64_t value) { last_seen_[value] = ++now_; }

 private:
  std::vector<uint64_t> last_seen_;
  uint64_t now_ = 0;
};

class FilterWork {
 public:
  struct Key {
    net::Ipv4Address source{};
    std::array<uint8_t, 4> zero{};
  };
  static constexpr bool kHasStrangers = true;  // packets that no rule is about

  explicit FilterWork(size_t) {}
  static Key key_of(const net::Packet& packet, const net::ParsedPacket& parsed, net::ParseVerdict) {
    return {.source = net::FlowKey4::from_packet(packet, parsed).source};
  }
  void act(const net::Packet&, net::ParsedPacket&, uint64_t) { ++denied_; }

 private:
  uint64_t denied_ = 0;
};
static_assert(sizeof(FilterWork::Key) == 8, "hashed and compared as bytes, without padding");

// The ways. Each writes the values of keys that are there, and their hit bits.
template <class KeyT>
class NoTable {
 public:
  static constexpr const char* kName = "no_table";
  static constexpr size_t kLanesPerCall = 0;
  static constexpr bool kAnswers = false;

  static Result<NoTable> create(const LookupWaysConfig&) { return NoTable(); }
  static bool insert(const KeyT&, uint64_t) { return true; }
  // What is done with an answer is done with every packet's.
  static void lookup(std::span<const KeyT> keys, std::span<uint64_t> values, HitWords hits) {
    for (size_t i = 0; i < keys.size(); ++i) {
      values[i] = 1;
      hits.set(i);
    }
  }
  [[nodiscard]] static uint64_t memory_bytes() { return 0; }
};

template <class KeyT, size_t kLanesOfCall>
class RteHashWay {
 public:
  static constexpr const char* kName = kLanesOfCall == 1 ? "rte_hash_one" : "rte_hash_bulk";
  static constexpr size_t kLanesPerCall = kLanesOfCall;
  static constexpr bool kAnswers = true;

  static Result<RteHashWay> create(const LookupWaysConfig& config) {
    auto made = make_rte_hash(config.entries, sizeof(KeyT));
    if (!made) return made.error();
    return RteHashWay(std::move(made).value());
  }
  bool insert(const KeyT& key, uint64_t value) {
    return rte_hash_add_key_data(table_.get(), &key, reinterpret_cast<void*>(value)) == 0;
  }
  void lookup(std::span<const KeyT> keys, std::span<uint64_t> values, HitWords hits) {
    std::array<void*, kWayLanes> data;
    uint64_t found = 0;
    if constexpr (kLanesOfCall == 1) {
      for (size_t i = 0; i < keys.size(); ++i)
        found |= uint64_t{rte_hash_lookup_data(table_.get(), &keys[i], &data[i]) >= 0} << i;
    } else {
      std::array<const void*, kWayLanes> pointers;
      for (size_t i = 0; i < keys.size(); ++i) pointers[i] = &keys[i];
      rte_hash_lookup_bulk_data(table_.get(), pointers.data(), static_cast<uint32_t>(keys.size()),
                                &found, data.data());
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      if ((found >> i & 1) == 0) continue;
      values[i] = reinterpret_cast<uintptr_t>(data[i]);
      hits.set(i);
    }
  }
  [[nodiscard]] uint64_t memory_bytes() const { return bytes_; }

 private:
  explicit RteHashWay(MadeRteHash made) : table_(std::move(made.table)), bytes_(made.bytes) {}

  RteHashHandle table_;
  uint64_t bytes_;
};

template <class KeyT>
class RoostWay {
 public:
  static constexpr const char* kName = "roost";
  static constexpr size_t kLanesPerCall = kWayLanes;
  static constexpr bool kAnswers = true;

  static Result<RoostWay> create(const LookupWaysConfig& config) {
    auto made = Table::create({.entries_max = config.entries, .hash_seed = config.seed});
    if (!made) return made.error();
    return RoostWay(std::move(made).value());
  }
  bool insert(const KeyT& key, uint64_t value) {
    return table_.insert(key, value) == InsertOutcome::kInserted;
  }
  void lookup(std::span<const KeyT> keys, std::span<uint64_t> values, HitWords hits) {
    table_.lookup(keys, values, hits);
  }
  [[nodiscard]] uint64_t memory_bytes() const { return table_.memory_bytes(); }

 private:
  using Table = FlowTable<KeyT, uint64_t>;
  explicit RoostWay(Table table) : table_(std::move(table)) {}

  Table table_;
};

// Frames of flows, and the value that each one's key has.
struct Stream {
  std::vector<Frame> frames;
  std::vector<uint64_t> values;

  // Entry e is flow e, its value e + 1. With strangers half of the frames are of flows behind
  // those.
  static Stream draw(const LookupWaysConfig& config, bool has_strangers) {
    Stream stream;
    traffic::Draw draw(config.seed);
    for (size_t i = 0; i < config.packets; ++i) {
      const uint64_t flow =
          draw.below(config.entries) + (has_strangers && draw.below(2) == 0 ? config.entries : 0);
      stream.frames.push_back(request_of(flow));
      stream.values.push_back(flow < config.entries ? flow + 1 : kNoValue);
    }
    return stream;
  }
};

template <class Work>
class LookupWaysJob {
 public:
  LookupWaysJob(const LookupWaysConfig& config, const Progress& progress)
      : config_(config),
        progress_(progress),
        stream_(Stream::draw(config, Work::kHasStrangers)),
        work_(config.entries) {}

  Result<Rows> run() {
    auto none = NoTable<Key>::create(config_);
    auto one = RteHashWay<Key, 1>::create(config_);
    auto bulk = RteHashWay<Key, kWayLanes>::create(config_);
    auto ours = RoostWay<Key>::create(config_);
    if (!one) return one.error();
    if (!bulk) return bulk.error();
    if (!ours) return ours.error();
    const auto each = [&](auto&& call) {
      call(none.value());
      call(one.value());
      call(bulk.value());
      call(ours.value());
    };
    std::optional<Error> wrong;
    each([&](auto& way) {
      if (!wrong) wrong = fill(way);
    });
    if (wrong) return *wrong;
    Rows rows;
    for (unsigned round = 0; round < config_.rounds; ++round) {
      progress_(0.1 + 0.9 * round / config_.rounds, fmt::format("round {}", round + 1));
      each([&](auto& way) { rows.push_back(time(way, round)); });
    }
    return rows;
  }

 private:
  using Key = typename Work::Key;

  // Every packet once: take(place, packet, parsed, value), kNoValue if its key is not there.
  template <class Way, class Take>
  void pass(Way& way, Take&& take) {
    FrameBatch frames;
    std::array<net::ParsedPacket, kWayLanes> parsed;
    std::array<Key, kWayLanes> keys;
    std::array<uint64_t, kWayLanes> values;
    for (size_t at = 0; at < stream_.frames.size(); at += kWayLanes) {
      const size_t count = std::min(kWayLanes, stream_.frames.size() - at);
      frames.clear();
      for (size_t i = 0; i < count; ++i) frames.push(stream_.frames[at + i]);
      const std::span<const net::Packet> packets = frames.batch().packets();
      for (size_t i = 0; i < count; ++i) {
        const net::ParseVerdict verdict = net::parse(packets[i], parsed[i]);
        keys[i] = Work::key_of(packets[i], parsed[i], verdict);
      }
      HitArray<kWayLanes> hits;
      way.lookup(std::span<const Key>(keys).first(count), values, hits);
      for (size_t i = 0; i < count; ++i)
        take(at + i, packets[i], parsed[i], hits.test(i) ? values[i] : kNoValue);
    }
  }

  // With every entry; then all answers are looked at.
  template <class Way>
  std::optional<Error> fill(Way& way) {
    FrameBatch frames;
    for (uint64_t flow = 0; flow < config_.entries; ++flow) {
      frames.clear();
      frames.push(request_of(flow));
      const net::Packet& packet = frames.batch().packets()[0];
      net::ParsedPacket parsed;
      const net::ParseVerdict verdict = net::parse(packet, parsed);
      if (!way.insert(Work::key_of(packet, parsed, verdict), flow + 1)) {
        return Error{fmt::format("{}: no room for entry {}", Way::kName, flow)};
      }
    }
    std::optional<Error> wrong;
    if (!Way::kAnswers) return wrong;
    pass(way, [&](size_t place, const net::Packet&, net::ParsedPacket&, uint64_t value) {
      if (wrong || value == stream_.values[place]) return;
      wrong = Error{fmt::format("{}: packet {} gets {}, and {} is right", Way::kName, place, value,
                                stream_.values[place])};
    });
    return wrong;
  }

  template <class Way>
  RecordRow time(Way& way, unsigned round) {
    const auto began = std::chrono::steady_clock::now();
    for (unsigned n = 0; n < config_.passes; ++n) {
      pass(way, [&](size_t, const net::Packet& packet, net::ParsedPacket& parsed, uint64_t value) {
        if (value != kNoValue) work_.act(packet, parsed, value);
      });
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    RecordRow row;
    row.experiment = config_.experiment;
    row.contestant = Way::kName;
    row.form = "plain";
    row.workload = config_.function;
    row.slots = config_.entries;
    row.entries = config_.entries;
    row.lanes_per_call = Way::kLanesPerCall;
    row.key_bytes = sizeof(Key);
    row.value_bytes = sizeof(uint64_t);
    row.round = round;
    row.metric = "ns_per_packet";
    row.operations = uint64_t{config_.passes} * stream_.frames.size();
    row.value = 1e9 * took.count() / static_cast<double>(*row.operations);
    row.seconds = took.count();
    row.table_bytes = way.memory_bytes();
    row.core = config_.core;
    row.seed = config_.seed;
    return row;
  }

  const LookupWaysConfig& config_;
  const Progress& progress_;
  Stream stream_;
  Work work_;
};

}  // namespace

Result<Rows> run_lookup_ways_job(const LookupWaysConfig& config, const Progress& progress) {
  const Result<int> pinned = pin_to_core(config.core);
  if (!pinned) return pinned.error();
  progress(0, "filling tables, comparing answers");
  if (config.function == "nat") return LookupWaysJob<NatWork>(config, progress).run();
  if (config.function == "assets") return LookupWaysJob<AssetsWork>(config, progress).run();
  return LookupWaysJob<FilterWork>(config, progress).run();
}

}  // namespace roost::lab
