// Laws that hold whatever the numbers are: Little's, what a scoreboard of ten can do, that nothing
// gets faster when something takes longer, and the issue bound without any latency.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "sim/saved_table.h"
#include "sim/software_program.h"
#include "tests/sim/lookup_scene.h"

namespace roost::sim {
namespace {

// Lookups of a core, by LOOKUP_B like loads, of keys that were stored before.
std::vector<Op> lookups(const LookupBench& bench, uint64_t count, uint64_t table,
                        std::vector<uint32_t>* tags = nullptr) {
  std::vector<Op> ops;
  for (uint64_t i = 0; i < count; ++i) {
    Op op = bench.lookup_b(2 * (i % 256), 0);
    op.table = table;
    if (tags != nullptr) tags->push_back(op.tag = static_cast<uint32_t>(i + 1));
    ops.push_back(op);
  }
  return ops;
}

void store_keys(LookupBench& bench, Tile core) {
  std::vector<Op> ops;
  for (uint64_t i = 0; i < 256; ++i) ops.push_back(LookupBench::put_key(2 * i)[0]);
  bench.run(core, ops);
}

TEST(Laws, little) {
  Parameters parameters = default_parameters();
  parameters.lookup_b = LookupBChoice::kLoad;
  Scene scene(parameters);
  store_keys(scene.bench, 0);
  constexpr uint64_t kLookups = 4000;
  constexpr Cycle kApart = 40;
  // A chain of computing has lookup i execute in cycle 40 (i + 1), if the window lets it.
  std::vector<Op> ops;
  for (uint64_t i = 0; i < kLookups; ++i) {
    ops.push_back({.kind = OpKind::kCompute, .cycles = kApart, .after = {2, 0}});
    Op lookup = scene.bench.lookup_b(2 * (i % 256), static_cast<uint32_t>(i + 1));
    lookup.after[0] = 1;
    ops.push_back(lookup);
  }
  Script script(ops);
  EventQueue& events = scene.bench.machine.events();
  const Cycle began = events.now();
  scene.bench.machine.start(0, script);
  uint64_t in_flight_cycles = 0;
  Cycle last = began;
  for (size_t in_flight = 0; events.run_cycle(~Cycle{0}); last = events.now()) {
    in_flight_cycles += in_flight * (events.now() - last);
    in_flight = scene.bench.machine.accelerators().in_flight();
  }
  uint64_t waited = 0;
  const LookupCosts costs(scene.bench, 0);
  for (uint64_t i = 0; i < kLookups; ++i) {
    waited += script.of(static_cast<uint32_t>(i + 1)).when - began - kApart * (i + 1) -
              (costs.between(scene.unit(), 0) + parameters.distributor_result_cycles + 1);
  }
  EXPECT_NEAR(static_cast<double>(in_flight_cycles), static_cast<double>(waited),
              0.01 * static_cast<double>(waited));
  EXPECT_GT(in_flight_cycles, 2 * (last - began)) << "there is something to count";
}

// Sixteen cores ask `tables` tables, each at an accelerator of its own. Lookups a cycle times the
// cycles that one stays in the scoreboard when it is alone.
double places_filled(uint32_t tables) {
  Parameters parameters = default_parameters();
  parameters.lookup_b = LookupBChoice::kLoad;
  Scene scene(parameters);
  Machine& machine = scene.bench.machine;
  std::vector<uint64_t> addresses{scene.bench.table};
  const PaperTable table = paper_table(1000, 256);
  for (uint64_t address = kTableAddress + (1 << 20); addresses.size() < tables;
       address += uint64_t{4096} * 64) {
    const uint64_t metadata = address + 4032;
    if (std::ranges::any_of(addresses, [&](uint64_t other) {
          return scene.bench.home(other) == scene.bench.home(metadata);
        })) {
      address += 4096;
      continue;
    }
    addresses.push_back(put_table(machine.bytes(), address, image_of(table)).value());
  }
  store_keys(scene.bench, 0);
  for (const uint64_t address : addresses) scene.bench.run(0, lookups(scene.bench, 256, address));
  std::vector<Script> scripts;
  for (Tile core = 0; core < 16; ++core)
    scripts.emplace_back(lookups(scene.bench, 2000, addresses[core % addresses.size()]));
  const Cycle began = machine.events().now();
  for (Tile core = 0; core < 16; ++core) machine.start(core, scripts[core]);
  const Cycle ended = machine.run().value();
  // Alone: the keys are shared by all cores now, and in their slices.
  AcceleratorTile& unit = machine.accelerators().tile(scene.unit());
  const uint64_t before = unit.residency().place_cycles;
  for (uint64_t i = 0; i < 100; ++i) scene.bench.run(0, {scene.bench.lookup_b(2 * i, 0)});
  const double alone = static_cast<double>(unit.residency().place_cycles - before) / 100;
  return 16 * 2000.0 / static_cast<double>(ended - began) * alone;
}

TEST(Laws, one_accelerator_answers_at_most_ten_lookups_a_latency) {
  const double places = places_filled(1);
  EXPECT_LE(places, 10.0);
  EXPECT_GT(places, 7.0) << "and sixteen cores come near";
}

TEST(Laws, the_chip_answers_at_most_a_hundred_and_sixty_lookups_a_latency) {
  const double places = places_filled(16);
  EXPECT_LE(places, 160.0);
  EXPECT_GT(places, 70.0);
}

// Cycles of four kinds of work: lookups one after the other, by accelerators and by software, loads
// that depend on each other through all levels, and a mix of both with stores on two cores.
std::vector<Cycle> cycles_of_work(const Parameters& parameters) {
  std::vector<Cycle> cycles;
  std::array<std::byte, 16> all_bits;
  all_bits.fill(std::byte{0xFF});
  Scene scene(parameters, KeyMask::of(all_bits).value());
  for (uint64_t i = 0; i < 40; ++i) {
    cycles.push_back(scene.bench.look_up(i % 16, i % 20).cycles);
  }
  const KeyBytes key = bytes_of(key_of(2));
  const uint64_t word = lookup_word(scene.bench.machine.bytes(), scene.bench.table, key);
  // Stores to cold lines decide, then waits, then what does not wait.
  for (const double instructions : {0.0, 0.0, 2000.0}) {
    const SoftwareCost cost{.hit = {.instructions = instructions}};
    SoftwareProgram software({{&key, 1}, {&word, 1}}, cost, {.core = 9, .count = 1},
                             {&scene.bench.metadata, 1}, scene.bench.machine.bytes(), parameters);
    const Cycle before = scene.bench.machine.events().now();
    scene.bench.machine.start(9, software);
    cycles.push_back(scene.bench.machine.run().value() - before);
  }
  MemoryBench memory(parameters);
  std::vector<Op> chain;
  for (uint64_t i = 0; i < 300; ++i) {
    Op op = load(0x1000000 + traffic::mix(i % 100) % 4096 * 4096);
    op.after[0] = i == 0 ? 0 : 1;
    chain.push_back(op);
    if (i % 7 == 0) chain.push_back(store(0x2000000 + i * 8));
    if (i % 7 == 0) chain.back().after[0] = 1;
  }
  memory.run(3, chain);
  cycles.push_back(memory.ended - memory.began);
  memory.run(8, {store(0x2000000), load(0x2000000), load(0x1000000)});
  cycles.push_back(memory.ended - memory.began);
  Op branch = load(0x1000000, 1);
  branch.stop = FetchStop::kMispredicted;
  memory.run(8, {branch, load(0x1000000)});
  cycles.push_back(memory.ended - memory.began);
  memory.run(8, {store(0x2000000, 1), load(0x2000000, 1)});
  cycles.push_back(memory.ended - memory.began);
  return cycles;
}

TEST(Laws, nothing_gets_faster_when_something_takes_longer) {
  const std::vector<Cycle> base = cycles_of_work(default_parameters());
  for (const ParameterInfo& info : parameter_infos()) {
    // When a refused writer asks again decides by how much it misses the unlock: see below.
    if (!info.is_latency || info.value == &Parameters::core_lock_retry_cycles) continue;
    Parameters slower = default_parameters();
    slower.*info.value += 5;
    if (info.name == "hit_cycles" && info.table == "l1d") slower.l2_hit_cycles += 5;
    const std::vector<Cycle> cycles = cycles_of_work(slower);
    Cycle more = 0;
    for (size_t i = 0; i < base.size(); ++i) {
      EXPECT_GE(cycles[i], base[i]) << info.table << '.' << info.name << ", work " << i;
      more += cycles[i] - base[i];
    }
    EXPECT_GT(more, 0U) << info.table << '.' << info.name << " decides nothing";
  }
}

TEST(Laws, a_refused_writer_waits_at_least_until_the_unlock_and_at_most_a_retry_longer) {
  for (const uint32_t retry : {10U, 20U, 50U, 200U}) {
    Parameters parameters = default_parameters();
    parameters.core_lock_retry_cycles = retry;
    MemoryBench bench(parameters);
    const uint64_t line = bench.line_at_home(6);
    (void)bench.load_cycles(6, address_of(line));
    bench.push_out(6, line);
    bench.memory.ask_home(6, HomeSlice::kLock, 0, line, bench.memory.now());
    bench.memory.ask_home(6, HomeSlice::kUnlock, 0, line, bench.memory.now() + 1000);
    const Cycle cycles = bench.store_cycles(6, address_of(line));
    EXPECT_GT(cycles, 1000U);
    // A round is 10 for the tags, the wait, and 9 to the mesh; the answer 10 + 8 + 9.
    EXPECT_LE(cycles, 1000U + 10 + retry + 9 + 10 + 8 + 9);
  }
}

TEST(Laws, without_latencies_the_issue_width_is_the_bound) {
  Parameters parameters = default_parameters();
  for (const ParameterInfo& info : parameter_infos())
    if (info.is_latency) parameters.*info.value = static_cast<uint32_t>(info.min);
  MemoryBench bench(parameters);
  std::vector<Op> ops;
  for (uint64_t i = 0; i < 1000; ++i) {
    ops.push_back(i % 3 == 0 ? store(i * 64) : load(0x100000 + i * 64));
    ops.back().instructions = 8;
  }
  bench.run(0, ops);
  const Cycle cycles = bench.ended - bench.began;
  EXPECT_GE(cycles, 2000U);
  EXPECT_LE(cycles, 2000U + 3);
}

}  // namespace
}  // namespace roost::sim
