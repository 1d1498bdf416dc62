// A table in DPDK's hands: its memory is a memzone, and a worker lcore that EAL launches does the
// work.
#include <gtest/gtest.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_memzone.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capi/roost.h"

namespace roost {
namespace {

constexpr uint64_t kEntries = 10'000;
constexpr size_t kBurst = 32;

// What the lcore was given and what it found.
struct Work {
  roost_table* table;
  unsigned lcore = 0;
  uint64_t inserted = 0;
  uint64_t hits = 0;
  uint64_t sum = 0;
};

void run_burst(Work& work, uint64_t first) {
  std::array<uint64_t, kBurst> keys;
  std::array<uint64_t, kBurst> values{};
  std::array<uint8_t, kBurst> outcomes{};
  std::array<uint64_t, ROOST_HIT_WORDS(kBurst)> hits{};
  for (size_t lane = 0; lane < kBurst; ++lane) keys[lane] = first + lane;
  roost_keys lanes{};
  lanes.keys = keys.data();
  lanes.count = kBurst;
  work.inserted += roost_table_insert(work.table, &lanes, keys.data(), nullptr, outcomes.data());
  work.hits += roost_table_lookup(work.table, &lanes, values.data(), hits.data());
  for (const uint64_t value : values) work.sum += value;
}

int run(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  work.lcore = rte_lcore_id();
  for (uint64_t first = 0; first + kBurst <= kEntries; first += kBurst) run_burst(work, first);
  return 0;
}

// Starts EAL with two lcores on one processor, without ports, huge pages or files.
bool start_eal() {
  std::vector<std::string> arguments = {"roost",    "--lcores=0@0,1@0", "--no-huge",
                                        "--no-pci", "--no-telemetry",   "--no-shconf"};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) >= 0;
}

TEST(Lcore, a_worker_lcore_uses_a_table_in_a_memzone) {
  ASSERT_TRUE(start_eal());
  roost_config config;
  roost_config_init(&config, sizeof(config));
  config.key_bytes = 8;
  config.value_bytes = 8;
  config.entries_max = kEntries;
  uint64_t bytes = 0;
  ASSERT_EQ(roost_table_bytes(&config, &bytes, nullptr, 0), ROOST_OK);
  const rte_memzone* zone = rte_memzone_reserve_aligned("table", bytes, SOCKET_ID_ANY, 0, 64);
  ASSERT_NE(zone, nullptr);
  config.memory = zone->addr;
  config.memory_bytes = zone->len;
  std::array<char, 200> error{};
  Work work{.table = nullptr};
  ASSERT_EQ(roost_table_create(&config, &work.table, error.data(), error.size()), ROOST_OK)
      << error.data();

  rte_eal_mp_remote_launch(run, &work, SKIP_MAIN);
  rte_eal_mp_wait_lcore();
  constexpr uint64_t kDone = kEntries / kBurst * kBurst;
  EXPECT_EQ(work.lcore, 1U);
  EXPECT_EQ(work.inserted, kDone);
  EXPECT_EQ(work.hits, kDone);
  EXPECT_EQ(work.sum, kDone * (kDone - 1) / 2);
  EXPECT_EQ(roost_table_audit(work.table, nullptr), ROOST_OK);

  roost_table_destroy(work.table);
  EXPECT_EQ(rte_memzone_free(zone), 0);
  EXPECT_EQ(rte_eal_cleanup(), 0);
}

}  // namespace
}  // namespace roost
