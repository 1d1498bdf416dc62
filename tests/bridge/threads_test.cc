// Workers that learn and reclaim in one database at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <thread>
#include <vector>

#include "tests/bridge/stations.h"

namespace roost::bridge {
namespace {

constexpr size_t kWorkers = 2;
constexpr uint64_t kStations = 2'048;
constexpr uint64_t kTicks = 3 * kAgeingTicks;
constexpr uint64_t kGuestsATick = 8;

// The stations of one worker, at a port of its own.
class Stations {
 public:
  Stations(Fdb& fdb, size_t worker)
      : learner_(fdb, worker, kWorkers),
        port_(static_cast<uint16_t>(worker)),
        first_(worker * kStations),
        next_guest_(1'000'000 * (worker + 1)) {}

  // A frame of each station, and of guests that come once.
  void speak(Tick now) {
    for (uint64_t i = 0; i < kStations; i += Learner::kSourcesMax) {
      std::array<FdbKey, Learner::kSourcesMax> keys;
      for (size_t lane = 0; lane < keys.size(); ++lane) keys[lane] = station(first_ + i + lane);
      frames_from(learner_, keys, port_, now);
      look(keys, std::span(is_known_).subspan(i, keys.size()));
    }
    for (uint64_t i = 0; i < kGuestsATick; ++i)
      frame_from(learner_, station(next_guest_++), port_, now);
  }
  void reclaim(Tick now, uint64_t bucket_count) { learner_.reclaim(now, bucket_count); }

  [[nodiscard]] uint64_t wrong() const { return wrong_; }
  [[nodiscard]] bool are_all_known() const { return std::ranges::count(is_known_, 0) == 0; }
  [[nodiscard]] const LearnCounters& counters() const { return learner_.counters(); }

 private:
  // One that was known once must be known for good, whatever others do. (A frame may find another
  // worker writing, so that its station waits for the next one.)
  void look(std::span<const FdbKey> keys, std::span<uint8_t> is_known) {
    std::array<FdbValue, Learner::kSourcesMax> values;
    HitArray<Learner::kSourcesMax> hits;
    learner_.look_up(learner_.start(keys), values, hits);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      const uint8_t is_there = hits.test(lane) && values[lane].port() == port_ ? 1 : 0;
      if (is_known[lane] > is_there) ++wrong_;
      is_known[lane] = is_there;
    }
  }

  Learner learner_;
  uint16_t port_;
  uint64_t first_;
  uint64_t next_guest_;
  std::vector<uint8_t> is_known_ = std::vector<uint8_t>(kStations, 0);
  uint64_t wrong_ = 0;
};

TEST(BridgeThreads, stations_that_speak_stay_known_at_their_ports_while_others_come_and_go) {
  Fdb fdb = Fdb::create(fdb_config(100'000, kWorkers)).value();
  std::atomic<uint64_t> now = 0;
  std::array<std::atomic<uint64_t>, kWorkers> done{};
  std::vector<Stations> stations;
  for (size_t worker = 0; worker < kWorkers; ++worker) stations.emplace_back(fdb, worker);
  std::vector<std::thread> workers;
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      for (uint64_t tick = 0; tick < kTicks; ++tick) {
        while (now.load(std::memory_order_acquire) < tick) std::this_thread::yield();
        stations[worker].speak(Tick{tick});
        stations[worker].reclaim(Tick{tick}, fdb.bucket_count());
        done[worker].store(tick + 1, std::memory_order_release);
      }
    });
  }
  for (uint64_t tick = 0; tick < kTicks; ++tick) {
    now.store(tick, std::memory_order_release);
    for (const auto& worker : done)
      while (worker.load(std::memory_order_acquire) <= tick) std::this_thread::yield();
  }
  for (std::thread& worker : workers) worker.join();

  uint64_t learned = 0;
  uint64_t reclaimed = 0;
  for (const Stations& one : stations) {
    EXPECT_EQ(one.wrong(), 0U);
    EXPECT_TRUE(one.are_all_known());
    const LearnCounters& counters = one.counters();
    EXPECT_EQ(counters.moved + counters.held + counters.refused, 0U);
    learned += counters.learned;
    reclaimed += counters.reclaimed;
  }
  auto writer = fdb.write();
  EXPECT_EQ(learned - reclaimed, writer.size()) << "every entry is there or was reclaimed";
  EXPECT_EQ(writer.learned_at(0) + writer.learned_at(1), writer.size());
  EXPECT_GT(reclaimed, kWorkers * kGuestsATick * kAgeingTicks);
  EXPECT_EQ(writer.table().audit(), std::nullopt);
}

// One worker sees a flood of sources, the other one new stations, each of which sends frames until
// it is known: one whenever both workers have gone on for some milliseconds' worth. A clock would
// count what the system lets one of them wait.
TEST(BridgeThreads, new_stations_are_learned_by_their_third_frame_beside_a_flood) {
  constexpr uint64_t kNewStations = 2'000;
  constexpr uint64_t kTurns = 1'000;  // from frame to frame
  Fdb fdb = Fdb::create(fdb_config(131'072, kWorkers)).value();
  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> flood_turns = 0;
  std::thread flooding([&] {
    Learner learner(fdb, 0, kWorkers);
    uint64_t next = 1'000'000;
    while (!is_over.load(std::memory_order_relaxed)) {
      std::array<FdbKey, Learner::kSourcesMax> keys;
      for (FdbKey& key : keys) key = station(next++);
      frames_from(learner, keys, 0, Tick{0});
      learner.reclaim(Tick{0}, 64);
      flood_turns.fetch_add(1, std::memory_order_relaxed);
    }
  });
  while (fdb.write().size() == 0) std::this_thread::yield();
  Learner learner(fdb, 1, kWorkers);
  uint64_t late = 0;
  for (uint64_t i = 0; i < kNewStations; ++i) {
    bool is_known = false;
    for (int frame = 0; frame < 3 && !is_known; ++frame) {
      const uint64_t flood_until = flood_turns.load(std::memory_order_relaxed) + kTurns;
      frame_from(learner, station(i), 1, Tick{0});
      for (uint64_t turn = 0;
           !is_known &&
           (turn < kTurns || flood_turns.load(std::memory_order_relaxed) < flood_until);
           ++turn) {
        learner.reclaim(Tick{0}, 64);
        is_known = port_of(fdb, station(i), Tick{0}) == 1;
      }
    }
    late += is_known ? 0U : 1U;
  }
  is_over.store(true, std::memory_order_relaxed);
  flooding.join();
  EXPECT_EQ(late, 0U) << "of " << kNewStations;
  EXPECT_EQ(learner.counters().learned, kNewStations);
}

}  // namespace
}  // namespace roost::bridge
