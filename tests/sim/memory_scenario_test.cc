// What loads and stores take, added up by hand from the table of costs.
#include <gtest/gtest.h>

#include "tests/sim/script.h"

namespace roost::sim {
namespace {

// Costs as sums of the machine's numbers, between tiles so many hops apart.
struct Costs {
  const Parameters& p = default_machine_parameters();
  static const Parameters& default_machine_parameters() {
    static const Parameters parameters = default_parameters();
    return parameters;
  }
  [[nodiscard]] Cycle hops(uint32_t count) const { return count * Cycle{p.mesh_hop_cycles}; }
  [[nodiscard]] Cycle to_home(uint32_t hop_count) const {
    return p.l2_hit_cycles + p.mesh_request_cycles + hops(hop_count) + p.llc_tag_cycles;
  }
  [[nodiscard]] Cycle from_home(uint32_t hop_count) const {
    return hops(hop_count) + p.mesh_fill_cycles;
  }
  [[nodiscard]] Cycle dram_closed() const {
    return p.dram_controller_cycles + p.dram_activate_cycles + p.dram_read_cycles +
           p.dram_burst_cycles;
  }
};

const Costs kCosts;

TEST(MemoryScenario, a_load_that_l1_has) {
  MemoryBench bench;
  (void)bench.load_cycles(0, 0x40000);
  EXPECT_EQ(bench.load_cycles(0, 0x40000), 5U);
}

TEST(MemoryScenario, a_load_that_l2_has) {
  MemoryBench bench;
  (void)bench.load_cycles(0, 0x40000);
  for (uint64_t way = 1; way <= 8; ++way) (void)bench.load_cycles(0, 0x40000 + way * 4096);
  EXPECT_EQ(bench.load_cycles(0, 0x40000), 14U);
}

TEST(MemoryScenario, a_cold_load_of_the_own_slice_from_a_closed_bank) {
  MemoryBench bench;
  // 14 + 9 to the mesh, 10 for the tags, 70 + 30 + 30 + 7 in DRAM, 9 back into the core.
  EXPECT_EQ(bench.load_cycles(5, address_of(bench.line_at_home(5))), 179U);
  EXPECT_EQ(kCosts.to_home(0) + kCosts.dram_closed() + kCosts.from_home(0), 179U);
}

TEST(MemoryScenario, a_cold_load_of_the_farthest_slice) {
  MemoryBench bench;
  EXPECT_EQ(bench.load_cycles(0, address_of(bench.line_at_home(15))), 179U + 2 * 6 * 2);
}

TEST(MemoryScenario, an_open_row_saves_the_activation_and_another_one_costs_a_precharge) {
  MemoryBench bench;
  const Parameters& p = bench.memory.parameters();
  const uint64_t first = bench.line_at_home(3);
  const uint64_t row_lines = p.dram_row_bytes / kLineBytes;
  const auto row_of = [&](uint64_t line) { return line / p.dram_channels / row_lines; };
  (void)bench.load_cycles(3, address_of(first));
  uint64_t same = first + p.dram_channels;
  while (bench.memory.slice_of(same) != 3) same += p.dram_channels;
  ASSERT_EQ(row_of(same), row_of(first));
  EXPECT_EQ(bench.load_cycles(3, address_of(same)), 179U - 30);
  uint64_t other = same;
  while (bench.memory.slice_of(other) != 3 || row_of(other) == row_of(first) ||
         row_of(other) % p.dram_banks != row_of(first) % p.dram_banks) {
    other += p.dram_channels;
  }
  EXPECT_EQ(bench.load_cycles(3, address_of(other)), 179U + 30);
}

TEST(MemoryScenario, a_load_that_a_near_and_a_far_slice_has) {
  MemoryBench bench;
  for (const auto& [home, hop_count] : {std::pair{0U, 0U}, std::pair{1U, 1U}, std::pair{15U, 6U}}) {
    const uint64_t line = bench.line_at_home(home);
    (void)bench.load_cycles(0, address_of(line));
    bench.push_out(0, line);
    ASSERT_TRUE(bench.memory.home(home).holds(line));
    // 14 + 9, hops, 10 + 8, hops, 9
    EXPECT_EQ(bench.load_cycles(0, address_of(line)), 50U + 4 * hop_count);
    EXPECT_EQ(bench.memory.cache(0).state(line), LineState::kExclusive);
    EXPECT_FALSE(bench.memory.home(home).holds(line)) << "it left the victim cache";
  }
}

TEST(MemoryScenario, a_load_of_a_line_that_another_core_has_modified) {
  MemoryBench bench;
  const uint64_t line = bench.line_at_home(1);
  ASSERT_TRUE(bench.memory.bytes().put_zeroes(address_of(line), 64));
  (void)bench.store_cycles(2, address_of(line), 7);
  // Core 0 to slice 1: a hop; slice 1 to core 2: a hop; there 30 cycles; and back the same way.
  EXPECT_EQ(bench.load_cycles(0, address_of(line)), 14U + 9 + 2 + 10 + 2 + 30 + 2 + 2 + 9);
  EXPECT_EQ(bench.run(0, {load(address_of(line), 1)}).of(1).word, 7U);
  EXPECT_EQ(bench.memory.cache(0).state(line), LineState::kShared);
  EXPECT_EQ(bench.memory.cache(2).state(line), LineState::kShared);
  EXPECT_TRUE(bench.memory.home(1).holds(line)) << "what was modified is kept";
}

TEST(MemoryScenario, a_store_takes_the_line_from_the_farthest_core_that_shares_it) {
  MemoryBench bench;
  const uint64_t line = bench.line_at_home(0);
  for (const Tile core : {0U, 3U, 15U}) (void)bench.load_cycles(core, address_of(line));
  // The store is done in cycle 1 and leaves then. The snoop to core 15 goes six hops; that to core
  // 3 has the first link a cycle before it.
  EXPECT_EQ(bench.store_cycles(0, address_of(line)), 1U + 14 + 9 + 10 + 1 + 12 + 30 + 12 + 9);
  EXPECT_EQ(bench.memory.cache(0).state(line), LineState::kModified);
  EXPECT_EQ(bench.memory.cache(3).state(line), std::nullopt);
  EXPECT_EQ(bench.memory.cache(15).state(line), std::nullopt);
}

TEST(MemoryScenario, a_load_takes_the_bytes_of_a_store_before_it) {
  MemoryBench bench;
  const Script script = bench.run(0, {store(0x5000, 42), load(0x5000, 1), load(0x5004, 2)});
  // The store is done in cycle 1; the second load wants bytes that no store has whole.
  EXPECT_EQ(script.of(1).when - bench.began, 1U + 5);
  EXPECT_EQ(script.of(1).word, 42U);
  EXPECT_GT(script.of(2).when - bench.began, 179U) << "it waits until the store has its line";
}

TEST(MemoryScenario, loads_that_depend_on_each_other_add_up_and_others_overlap) {
  MemoryBench bench;
  const uint64_t first = bench.line_at_home(5);
  const uint64_t second = bench.line_at_home(5, first + uint64_t{1024} * 6 * 128);
  Op dependent = load(address_of(second), 2);
  dependent.after[0] = 1;
  EXPECT_EQ(bench.run(5, {load(address_of(first), 1), dependent}).of(2).when - bench.began,
            2U * 179);
  MemoryBench other;
  const Script both = other.run(5, {load(address_of(first), 1), load(address_of(second), 2)});
  EXPECT_EQ(both.of(1).when, 179U);
  EXPECT_LE(both.of(2).when, 179U + 1 + 7) << "one pipeline, perhaps one channel";
}

TEST(MemoryScenario, a_miss_more_than_can_be_in_flight_waits_for_the_first) {
  Parameters parameters = default_parameters();
  parameters.l2_misses_in_flight = 1;
  MemoryBench bench(parameters);
  const uint64_t first = bench.line_at_home(5);
  const uint64_t second = bench.line_at_home(5, first + uint64_t{1024} * 6 * 128);
  const Script script = bench.run(
      5, {load(address_of(first), 1), load(address_of(first) + 8, 2), load(address_of(second), 3)});
  EXPECT_EQ(script.of(1).when, 179U);
  EXPECT_EQ(script.of(2).when, 179U) << "the same line, the same miss";
  EXPECT_EQ(script.of(3).when, 2 * 179U);
}

TEST(MemoryScenario, two_loads_execute_in_a_cycle) {
  MemoryBench bench;
  (void)bench.load_cycles(0, 0x40000);
  std::vector<Op> ops;
  for (uint32_t i = 1; i <= 8; ++i) ops.push_back(load(0x40000, i));
  const Script script = bench.run(0, ops);
  // Four enter a cycle, two execute.
  for (uint32_t i = 1; i <= 8; ++i)
    EXPECT_EQ(script.of(i).when - bench.began, 5U + (i - 1) / 2) << i;
}

TEST(MemoryScenario, computing_takes_the_issue_bound) {
  MemoryBench bench;
  std::vector<Op> ops(100, {.instructions = 10});
  bench.run(0, ops);
  EXPECT_EQ(bench.ended - bench.began, 1000U / 4);
}

TEST(MemoryScenario, a_mispredicted_branch_stops_what_follows) {
  MemoryBench bench;
  (void)bench.load_cycles(0, 0x40000);
  Op branch = load(0x40000, 1);
  branch.stop = FetchStop::kMispredicted;
  EXPECT_EQ(bench.run(0, {branch, load(0x40000, 2)}).of(2).when - bench.began, 5U + 16 + 5);
}

TEST(MemoryScenario, messages_share_links) {
  const Parameters p = default_parameters();
  Mesh mesh(p);
  EXPECT_EQ(mesh.send(100, 0, 15), 112U);
  EXPECT_EQ(mesh.send(100, 0, 3), 107U) << "the first link is taken in cycle 100";
  EXPECT_EQ(mesh.send(100, 15, 0), 112U) << "the other direction is another link";
  EXPECT_EQ(mesh.send(200, 0, 1, 2), 203U) << "two flits";
  uint32_t hops = 0;
  for (Tile from = 0; from < 16; ++from)
    for (Tile to = 0; to < 16; ++to) hops += mesh.hops(from, to);
  EXPECT_EQ(hops, 640U) << "2.5 on the average";
}

}  // namespace
}  // namespace roost::sim
