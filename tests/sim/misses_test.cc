// What cores miss, and how long they stand still for it: added up by hand.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sim/cached_start.h"
#include "sim/lookup_run.h"
#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {
namespace {

constexpr Tile kCore = 5;

// Cycles that a core stands still for loads, in all.
uint64_t stalled(MemoryBench& bench, std::vector<Op> ops) {
  Script script(std::move(ops));
  Core core(bench.memory, kCore, nullptr, script);
  while (bench.events.run_cycle(~Cycle{0})) {
  }
  ROOST_ASSERT(core.is_done());
  return core.counts().stalled;
}

Op compute(uint16_t cycles, FetchStop stop = FetchStop::kNone) {
  return {.kind = OpKind::kCompute, .stop = stop, .cycles = cycles};
}

// A line of the own slice that DRAM has takes 179 cycles (memory_scenario_test.cc).
class Stalls : public testing::Test {
 protected:
  MemoryBench bench_;
  uint64_t line_ = bench_.line_at_home(kCore);
  uint64_t address_ = address_of(line_);
  uint64_t other_ = address_ + 1024;
};

TEST_F(Stalls, a_load_alone_stalls_as_long_as_it_takes) {
  EXPECT_EQ(stalled(bench_, {load(address_)}), 179U);
  EXPECT_EQ(stalled(bench_, {load(address_)}), 0U) << "L1D has it";
}

TEST_F(Stalls, a_line_that_l2_has_is_no_stall) {
  (void)stalled(bench_, {load(address_)});
  for (uint64_t way = 1; way <= 8; ++way) bench_.run(kCore, {load(address_ + way * 4096)});
  EXPECT_EQ(bench_.memory.cache(kCore).look(line_), 14U);
  EXPECT_EQ(stalled(bench_, {load(address_)}), 0U);
}

// The last of 100 cycles' computing leaves in cycle 100.
TEST_F(Stalls, what_leaves_meanwhile_is_no_stall) {
  EXPECT_EQ(stalled(bench_, {compute(100), load(address_)}), 179U - 101U);
  EXPECT_EQ(stalled(bench_, {compute(300), load(other_)}), 0U);
}

TEST_F(Stalls, two_loads_at_a_time_stall_once) {
  EXPECT_EQ(stalled(bench_, {load(address_), load(address_)}), 179U);
}

// 50 cycles, 16 more for the wrong way; then the load begins.
TEST_F(Stalls, waiting_for_what_to_fetch_is_no_stall) {
  EXPECT_EQ(stalled(bench_, {compute(50, FetchStop::kMispredicted), load(address_)}), 179U);
}

TEST_F(Stalls, stores_and_lines_that_are_asked_for_ahead_do_not_stall) {
  EXPECT_EQ(stalled(bench_, {store(address_)}), 0U);
  EXPECT_EQ(stalled(bench_, {{.kind = OpKind::kPrefetch, .address = other_}}), 0U);
}

TEST(Ahead, a_line_that_was_asked_for_comes_though_nobody_waits) {
  MemoryBench bench;
  bench.run(0, {{.kind = OpKind::kPrefetch, .address = 0x40000}});
  EXPECT_EQ(bench.ended - bench.began, 1U) << "it is done when it has asked";
  EXPECT_EQ(bench.load_cycles(0, 0x40000), 5U);
  // More than can be in flight: the rest waits, and comes.
  std::vector<Op> many;
  for (uint64_t i = 0; i < 100; ++i)
    many.push_back({.kind = OpKind::kPrefetch, .address = 0x80000 + i * 64});
  bench.run(0, many);
  EXPECT_LE(bench.ended - bench.began, 100U);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(bench.load_cycles(0, 0x80000 + i * 64), 5U) << i;
}

// Keys that a table of the paper's format has, by chance, and nothing but what a lookup reads.
class Misses : public testing::Test {
 protected:
  Misses() {
    for (uint64_t i = 0; i < kKeys; ++i)
      keys_.push_back(bytes_of(key_of(2 * (traffic::mix(i) % kHeld))));
    words_ = words_of({{table_.image()}}, keys_).value();
  }
  LookupFigures figures(uint64_t warm_up, uint64_t lookups, bool is_cold) const {
    const SoftwareCost cost{.name = "made up", .keys_a_call = 1};
    return run_lookups(default_parameters(), {.tables = {{table_.image()}},
                                              .trace = {keys_, words_},
                                              .software = &cost,
                                              .is_cold = is_cold,
                                              .warm_up = warm_up,
                                              .lookups = lookups})
        .value();
  }
  // Lines of the table that the first keys' lookups read.
  [[nodiscard]] std::set<uint64_t> lines(Machine& machine, uint64_t count) const {
    const uint64_t at = put_table(machine.bytes(), kRunTableAddress, table_.image()).value();
    const auto table = TableMetadata::of_line(machine.bytes().read_line(line_of(at)));
    std::set<uint64_t> read;
    for (uint64_t i = 0; i < count; ++i) {
      for (const LookupPath::Look& look : lookup_path(machine.bytes(), *table, keys_[i]).looks) {
        read.insert(line_of(look.line));
        for (const uint64_t entry : look.entries) read.insert(line_of(entry));
      }
    }
    return read;
  }

  static constexpr uint64_t kHeld = 100'000;  // 16,384 buckets: 4 MiB, of which L2 has a quarter
  static constexpr uint64_t kKeys = 2'000;
  PaperTable table_ = paper_table(kHeld, 16'384);
  std::vector<KeyBytes> keys_;
  std::vector<uint64_t> words_;
};

TEST_F(Misses, cold_every_line_comes_from_dram_once) {
  Machine machine(default_parameters());
  const LookupFigures cold = figures(0, kKeys, true);
  // Keys are written to 64 lines in turn.
  const auto all = static_cast<double>(lines(machine, kKeys).size() + LookupShare::kKeyLines);
  EXPECT_DOUBLE_EQ(cold.l2_misses_per_lookup, all / kKeys);
  EXPECT_DOUBLE_EQ(cold.llc_misses_per_lookup, all / kKeys);
  EXPECT_GT(cold.stall_share, 0.8);
  EXPECT_LT(cold.stall_share, 1.0);
}

TEST_F(Misses, lines_that_the_slices_have_are_misses_of_l2_only) {
  constexpr uint64_t kFew = 12;
  Machine machine(default_parameters());
  const std::set<uint64_t> read = lines(machine, kFew);
  begin_cached(machine.memory(), kRunTableAddress, table_.image().size(), 1);
  double missing = 0;
  for (const uint64_t line : read) missing += machine.memory().cache(0).look(line) ? 0 : 1;
  ASSERT_GT(missing, kFew);
  ASSERT_LT(missing, static_cast<double>(read.size()));
  const LookupFigures warm = figures(0, kFew, false);
  EXPECT_DOUBLE_EQ(warm.l2_misses_per_lookup, (missing + kFew) / kFew);
  EXPECT_DOUBLE_EQ(warm.llc_misses_per_lookup, 1.0) << "the line that the key is written to";
}

TEST_F(Misses, what_accelerators_read_is_none_of_cores) {
  const auto figures = run_lookups(default_parameters(), {.tables = {{table_.image()}},
                                                          .trace = {keys_, words_},
                                                          .lookups = LookupShare::kKeyLines})
                           .value();
  EXPECT_DOUBLE_EQ(figures.l2_misses_per_lookup, 1.0) << "the line that the key is written to";
  EXPECT_DOUBLE_EQ(figures.llc_misses_per_lookup, 1.0);
}

TEST_F(Misses, what_came_while_warming_up_does_not_count) {
  const LookupFigures again = figures(kKeys, kKeys, true);
  EXPECT_DOUBLE_EQ(again.l2_misses_per_lookup, 0);
  EXPECT_DOUBLE_EQ(again.stall_share, 0);
  // A key's load, and of buckets and entries one each at least.
  EXPECT_GT(again.loads_per_lookup, 3);
  EXPECT_LT(again.loads_per_lookup, 4);
}

}  // namespace
}  // namespace roost::sim
