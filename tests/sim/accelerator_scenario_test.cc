// What lookups by the accelerator take, added up by hand from the table of costs.
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "tests/sim/lookup_scene.h"

namespace roost::sim {
namespace {

// The tile of the table's accelerator, the one beside it, and the farthest one.
std::array<Tile, 3> cores_of(const Scene& scene) {
  return {scene.unit(), scene.unit() ^ 1U, 15U - scene.unit()};
}

TEST(AcceleratorScenario, lookup_b_of_a_key_in_its_primary_bucket) {
  Scene scene;
  const uint64_t i = scene.in_primary();
  for (const Tile core : cores_of(scene)) {
    (void)scene.bench.look_up(core, i);  // lines and metadata are there from now on
    const LookupCosts costs(scene.bench, core);
    const LookupBench::Looked looked = scene.bench.look_up(core, i);
    EXPECT_EQ(looked.word, found_word(i));
    EXPECT_EQ(looked.cycles,
              scene.to_primary(costs, i) + costs.llc(scene.primary(i)) + scene.found(costs, i))
        << "from core " << core;
  }
}

TEST(AcceleratorScenario, on_one_tile_it_is_a_hundred_and_four_cycles) {
  Parameters parameters = default_parameters();
  parameters.mesh_columns = parameters.mesh_rows = 1;
  Scene scene(parameters);
  const uint64_t i = scene.in_primary();
  (void)scene.bench.look_up(0, i);
  // 2 to the unit; 1 in its queue and 2 for metadata; 3 for a read to go out, 10 + 30 for the key;
  // 4 for the hash; 2 locks, 3 and 10 + 8 for the bucket; 1 to compare; 1 lock, 3 and 10 + 8 for
  // the entry; 1 to compare; 3 + 2 for the word.
  EXPECT_EQ(scene.bench.look_up(0, i).cycles,
            2U + (1 + 2) + (3 + 40) + 4 + (2 + 3 + 18) + 1 + (1 + 3 + 18) + 1 + (3 + 2));
}

TEST(AcceleratorScenario, lookup_b_with_cold_metadata) {
  Scene scene;
  const Tile core = cores_of(scene)[2];
  const uint64_t i = scene.in_primary();
  (void)scene.bench.look_up(core, i);
  const LookupCosts costs(scene.bench, core);
  const Cycle warm = scene.bench.look_up(core, i).cycles;
  // A writer of the metadata line takes it from the accelerator; a reader brings it to the slice.
  scene.bench.run(core, {store(scene.bench.table + 40)});
  scene.bench.run(core ^ 1U, {load(scene.bench.table)});
  // Found missing, it goes out by the port and comes from the slice; then the key is asked for.
  EXPECT_EQ(scene.bench.look_up(core, i).cycles,
            warm + LookupCosts::port() + costs.llc(scene.bench.table));
  EXPECT_EQ(scene.bench.look_up(core, i).cycles, warm);
}

TEST(AcceleratorScenario, lookup_b_of_a_key_in_its_secondary_bucket) {
  Scene scene;
  const uint64_t i = scene.in_secondary();
  const Tile core = cores_of(scene)[2];
  (void)scene.bench.look_up(core, i);
  const LookupCosts costs(scene.bench, core);
  const LookupBench::Looked looked = scene.bench.look_up(core, i);
  EXPECT_EQ(looked.word, found_word(i));
  EXPECT_EQ(looked.cycles, scene.to_primary(costs, i) + costs.llc(scene.primary(i)) +
                               costs.compare() + LookupCosts::port() +
                               costs.llc(scene.secondary(i)) + scene.found(costs, i));
}

TEST(AcceleratorScenario, lookup_b_that_misses) {
  Scene scene;
  const uint64_t i = scene.absent();
  const Tile core = cores_of(scene)[1];
  (void)scene.bench.look_up(core, i);
  const LookupCosts costs(scene.bench, core);
  const LookupBench::Looked looked = scene.bench.look_up(core, i);
  EXPECT_EQ(looked.word, kNotFoundWord);
  EXPECT_EQ(looked.cycles, scene.to_primary(costs, i) + costs.llc(scene.primary(i)) +
                               costs.compare() + LookupCosts::port() +
                               costs.llc(scene.secondary(i)) + costs.compare() + costs.result());
}

// One channel with one row for all of the table, which the first lookup opens.
Parameters one_row() {
  Parameters parameters = default_parameters();
  parameters.dram_channels = 1;
  parameters.dram_row_bytes = 1 << 16;
  return parameters;
}

TEST(AcceleratorScenario, lookup_b_of_lines_in_dram_that_locks_bring) {
  Scene scene(one_row());
  const Tile core = cores_of(scene)[2];
  (void)scene.bench.look_up(core, scene.in_primary());
  const uint64_t i = scene.in_primary_and_dram();
  const LookupCosts costs(scene.bench, core);
  // The lock goes out two cycles before the read, and brings the line; then the read has it.
  const Cycle slice = costs.tag_and_data();
  EXPECT_EQ(scene.bench.look_up(core, i).cycles,
            scene.to_primary(costs, i) - 2 + costs.dram(scene.primary(i)) + slice +
                costs.compare() + LookupCosts::locks(1) - 1 +
                costs.dram(scene.bench.held(i).entry) + slice + costs.compare() + costs.result());
}

TEST(AcceleratorScenario, lookup_b_of_lines_in_dram_that_locks_do_not_bring) {
  Parameters parameters = one_row();
  parameters.lock_fetches = LocksChoice::kOff;
  Scene scene(parameters);
  const Tile core = cores_of(scene)[2];
  (void)scene.bench.look_up(core, scene.in_primary());
  const uint64_t i = scene.in_primary_and_dram();
  const LookupCosts costs(scene.bench, core);
  EXPECT_EQ(scene.bench.look_up(core, i).cycles,
            scene.to_primary(costs, i) + costs.dram(scene.primary(i)) + costs.compare() +
                LookupCosts::locks(1) + costs.dram(scene.bench.held(i).entry) + costs.compare() +
                costs.result());
}

TEST(AcceleratorScenario, without_locks_and_without_hops_to_lines) {
  Parameters parameters = default_parameters();
  parameters.locks = LocksChoice::kOff;
  parameters.lines = LinesChoice::kLocal;
  Scene scene(parameters);
  const uint64_t i = scene.in_primary();
  const Tile core = cores_of(scene)[2];
  (void)scene.bench.look_up(core, i);
  const LookupCosts costs(scene.bench, core);
  EXPECT_EQ(scene.bench.look_up(core, i).cycles,
            costs.command() + costs.metadata_hit() + LookupCosts::port() +
                costs.snooped(LookupBench::key_address(i)) + costs.hash() + LookupCosts::port() +
                18 + costs.compare() + LookupCosts::port() + 18 + costs.compare() + costs.result());
}

TEST(AcceleratorScenario, key_in_the_command) {
  Parameters parameters = default_parameters();
  parameters.key = KeyChoice::kCommand;
  Scene scene(parameters);
  const uint64_t i = scene.in_primary();
  const Tile core = cores_of(scene)[2];
  (void)scene.bench.look_up(core, i);
  const LookupCosts costs(scene.bench, core);
  // The core reads the key in L1D; the command is a flit still.
  EXPECT_EQ(scene.bench.look_up(core, i).cycles,
            5 + costs.command() + costs.metadata_hit() + costs.hash() + LookupCosts::locks(2) +
                costs.llc(scene.primary(i)) + scene.found(costs, i));
}

TEST(AcceleratorScenario, key_and_hash_in_the_command_to_the_buckets_slice) {
  Parameters parameters = default_parameters();
  parameters.key = KeyChoice::kCommand;
  parameters.hash = HashChoice::kCommand;
  parameters.dispatch = DispatchChoice::kBucket;
  Scene scene(parameters);
  const uint64_t i = scene.in_primary();
  const Tile home = scene.bench.home(scene.primary(i));
  const Tile core = 15U - home;
  (void)scene.bench.look_up(core, i);
  const LookupCosts costs(scene.bench, core, home);
  EXPECT_EQ(costs.llc(scene.primary(i)), 18U) << "the bucket is at the unit";
  EXPECT_EQ(scene.bench.look_up(core, i).cycles,
            5 + costs.command() + costs.metadata_hit() + LookupCosts::locks(2) +
                costs.llc(scene.primary(i)) + scene.found(costs, i));
}

TEST(AcceleratorScenario, a_mask_takes_a_cycle) {
  std::array<std::byte, 16> bits;
  bits.fill(std::byte{0xFF});
  Scene scene(default_parameters(), KeyMask::of(bits).value());
  const uint64_t i = scene.in_primary();
  const Tile core = cores_of(scene)[0];
  (void)scene.bench.look_up(core, i);
  const LookupCosts costs(scene.bench, core);
  EXPECT_EQ(scene.bench.look_up(core, i).cycles,
            scene.to_primary(costs, i) + 1 + costs.llc(scene.primary(i)) + scene.found(costs, i));
}

TEST(AcceleratorScenario, a_full_scoreboard_holds_a_query_at_the_distributor) {
  Parameters parameters = default_parameters();
  parameters.accelerator_scoreboard = 1;
  parameters.lookup_b = LookupBChoice::kLoad;
  Scene scene(parameters);
  const uint64_t i = scene.in_primary();
  const uint64_t j = scene.in_primary(i + 2);
  const Tile core = cores_of(scene)[1];
  const LookupCosts costs(scene.bench, core);
  (void)scene.bench.look_up(core, i);
  (void)scene.bench.look_up(core, j);
  scene.bench.run(core, LookupBench::put_key(i));
  scene.bench.run(core, LookupBench::put_key(j));
  Op second = scene.bench.lookup_b(j, 2);
  second.after[0] = 1;
  const Script script = scene.bench.run(
      core, {scene.bench.lookup_b(i, 1), {.kind = OpKind::kCompute, .cycles = 30}, second});
  const Cycle first = script.of(1).when - scene.bench.began;
  EXPECT_EQ(first,
            scene.to_primary(costs, i) + costs.llc(scene.primary(i)) + scene.found(costs, i));
  // Its word entered the queue a cycle after the comparison; three unlocks; then the distributor
  // sends the second query, which has been there for long.
  const Cycle freed = first - costs.result() + 1 + 3;
  EXPECT_EQ(script.of(2).when - scene.bench.began,
            freed + 1 + scene.to_primary(costs, j) - parameters.distributor_send_cycles +
                costs.llc(scene.primary(j)) + scene.found(costs, j));
  EXPECT_EQ(scene.bench.machine.accelerators().waiting_max(), 1U);
}

TEST(AcceleratorScenario, lookups_like_loads_overlap_and_strict_ones_do_not) {
  const auto cycles_of_four = [](LookupBChoice choice) {
    Parameters parameters = default_parameters();
    parameters.lookup_b = choice;
    Scene scene(parameters);
    std::vector<Op> ops;
    for (uint64_t i = 0; i < 4; ++i) {
      (void)scene.bench.look_up(0, 2 * i);
      scene.bench.run(0, LookupBench::put_key(2 * i));
      ops.push_back(scene.bench.lookup_b(2 * i, static_cast<uint32_t>(i + 1)));
    }
    scene.bench.run(0, ops);
    return scene.bench.ended - scene.bench.began;
  };
  EXPECT_GT(cycles_of_four(LookupBChoice::kStrict), 4U * 104);
  EXPECT_LT(cycles_of_four(LookupBChoice::kLoad), 2U * 170);
}

// The cycle in which a word of LOOKUP_NB is there.
TEST(AcceleratorScenario, lookup_nb_writes_its_word_where_the_core_has_put_a_zero) {
  Scene scene;
  const uint64_t i = scene.in_primary();
  const Tile core = cores_of(scene)[1];
  const LookupCosts costs(scene.bench, core);
  (void)scene.bench.look_up(core, i);
  const uint64_t result = kResultsAddress + uint64_t{3} * 64 + 8;
  scene.bench.run(core, LookupBench::put_key(i));
  scene.bench.run(core, {store(result)});
  const Op lookup = scene.bench.lookup_nb(i, result);
  const Cycle there = scene.cycle_of_word(core, lookup, result);
  // Like a store it leaves in cycle 1. The word goes to the slice of its line, which takes the line
  // from the core.
  const Tile home = scene.bench.home(result);
  EXPECT_EQ(there, 1 + scene.to_primary(costs, i) + costs.llc(scene.primary(i)) +
                       scene.found(costs, i) - costs.result() + 3 +
                       costs.between(scene.unit(), home) + 10 + costs.between(home, core) + 30 +
                       costs.between(core, home));
  EXPECT_EQ(scene.bench.machine.bytes().read_word(result), found_word(i));
  EXPECT_EQ(scene.bench.machine.memory().cache(core).state(line_of(result)), std::nullopt);
}

}  // namespace
}  // namespace roost::sim
