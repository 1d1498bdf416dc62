// Workers that learn and reclaim in one database at once.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/bridge/stations.h"

namespace roost::bridge {
namespace {

// Each worker has stations of its own at a port of its own, all of which speak again and again;
// guests of every worker come once, and are gone when they have been silent.
TEST(BridgeThreads, stations_that_speak_stay_known_at_their_ports_while_others_come_and_go) {
  constexpr size_t kWorkers = 2;
  constexpr uint64_t kStations = 2'000;
  constexpr uint64_t kTicks = 3 * kAgeingTicks;
  constexpr uint64_t kGuestsATick = 8;
  Fdb fdb = Fdb::create(fdb_config(100'000, kWorkers)).value();
  std::atomic<uint64_t> now = 0;
  std::array<std::atomic<uint64_t>, kWorkers> done{};
  std::array<uint64_t, kWorkers> wrong{};
  std::array<LearnCounters, kWorkers> counters;
  std::vector<std::thread> workers;
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      Learner learner(fdb, worker, kWorkers);
      const auto port = static_cast<uint16_t>(worker);
      const uint64_t first = worker * kStations;
      uint64_t guest = 1'000'000 * (worker + 1);
      for (uint64_t tick = 0; tick < kTicks; ++tick) {
        while (now.load(std::memory_order_acquire) < tick) std::this_thread::yield();
        for (uint64_t i = 0; i < kStations; i += Learner::kSourcesMax) {
          std::array<FdbKey, Learner::kSourcesMax> keys;
          for (size_t lane = 0; lane < keys.size(); ++lane)
            keys[lane] = station(first + (i + lane) % kStations);
          frames_from(learner, keys, port, Tick{tick});
          // From its third tick on, each must be known whatever others do.
          std::array<FdbValue, Learner::kSourcesMax> values;
          HitArray<Learner::kSourcesMax> hits;
          learner.look_up(keys, values, hits);
          for (size_t lane = 0; tick > 2 && lane < keys.size(); ++lane)
            wrong[worker] += hits.test(lane) && values[lane].port() == port ? 0U : 1U;
        }
        for (uint64_t i = 0; i < kGuestsATick; ++i)
          frame_from(learner, station(guest++), port, Tick{tick});
        learner.reclaim(Tick{tick}, fdb.bucket_count());
        done[worker].store(tick + 1, std::memory_order_release);
      }
      counters[worker] = learner.counters();
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
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    EXPECT_EQ(wrong[worker], 0U);
    EXPECT_EQ(counters[worker].moved + counters[worker].held + counters[worker].refused, 0U);
    learned += counters[worker].learned;
    reclaimed += counters[worker].reclaimed;
  }
  auto writer = fdb.write();
  EXPECT_EQ(learned - reclaimed, writer.size()) << "every entry is there or was reclaimed";
  EXPECT_EQ(writer.learned_at(0) + writer.learned_at(1), writer.size());
  EXPECT_GT(reclaimed, kWorkers * kGuestsATick * kAgeingTicks);
  EXPECT_EQ(writer.table().audit(), std::nullopt);
}

}  // namespace
}  // namespace roost::bridge
