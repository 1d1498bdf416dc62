// Two threads of a core: what they share is added up by hand.
#include "sim/core_threads.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "roost/traffic/draw.h"
#include "tests/sim/script.h"

namespace roost::sim {
namespace {

constexpr Tile kCore = 5;

// Runs programs as threads of a core. When each ended, from the beginning; their counts.
struct Pair {
  std::vector<Cycle> took{};
  std::vector<CoreCounts> counts{};
};

template <class... Scripts>
Pair run_threads(MemoryBench& bench, Scripts&... scripts) {
  const std::array<Program*, sizeof...(scripts)> programs{&scripts...};
  const Cycle began = bench.began = bench.events.now();
  const CoreThreads threads(bench.memory, kCore, nullptr, programs);
  while (bench.events.run_cycle(~Cycle{0})) {
  }
  Pair pair;
  for (const Core& thread : threads.threads()) {
    EXPECT_TRUE(thread.is_done()) << thread.state_in_words();
    pair.took.push_back(thread.last_cycle() - began);
    pair.counts.push_back(thread.counts());
  }
  return pair;
}

Pair run_threads(MemoryBench& bench, const std::vector<Op>& a, const std::vector<Op>& b) {
  Script first(a);
  Script second(b);
  return run_threads(bench, first, second);
}

Cycle run_alone(MemoryBench& bench, const std::vector<Op>& ops) {
  bench.run(kCore, ops);
  return bench.ended - bench.began;
}

std::vector<Op> times(size_t count, const Op& op) { return std::vector<Op>(count, op); }

// Four enter a cycle, and leave in the next one.
TEST(CoreThreads, take_every_other_cycle_while_both_have_something_to_enter) {
  MemoryBench bench;
  EXPECT_EQ(run_alone(bench, times(400, {})), 100U);
  const Pair pair = run_threads(bench, times(400, {}), times(400, {}));
  EXPECT_EQ(pair.took[0], 199U) << "the last four enter in cycle 198";
  EXPECT_EQ(pair.took[1], 200U);
}

TEST(CoreThreads, take_the_cycles_of_one_that_has_nothing_to_enter) {
  MemoryBench bench;
  const Op wait{.stop = FetchStop::kUntilDone, .cycles = 1000};
  const Pair pair = run_threads(bench, times(400, {}), {wait});
  EXPECT_EQ(pair.took[0], 101U) << "of its hundred cycles one was the other one's";
  EXPECT_EQ(pair.took[1], 1 + 1000U);
}

TEST(CoreThreads, a_cycle_is_one_thread_s_and_what_is_left_of_it_is_lost) {
  MemoryBench bench;
  // Of three instructions each: one enters a cycle, with a quarter of the next one.
  Op three;
  three.instructions = 3;
  const Pair pair = run_threads(bench, times(4, three), times(4, {}));
  // 12 instructions in cycles 0, 2 and 3; the other one's four in cycle 1.
  EXPECT_EQ(pair.took[0], 4U);
  EXPECT_EQ(pair.took[1], 2U);
}

// A line of the own slice that DRAM has takes 179 cycles (memory_scenario_test.cc), one in L1D 5.
TEST(CoreThreads, have_half_of_the_window_each) {
  const auto when_done = [](size_t behind, bool is_shared) {
    MemoryBench bench;
    const uint64_t near = address_of(bench.line_at_home(kCore, 0x2000));
    (void)run_alone(bench, {load(near)});
    std::vector<Op> ops{load(address_of(bench.line_at_home(kCore)))};
    ops.resize(behind);  // 192 instructions are in the window
    ops.push_back(load(near, 1));
    Script script(ops);
    Script nothing(std::vector<Op>{});
    const Cycle began = bench.events.now();
    if (is_shared) {
      (void)run_threads(bench, script, nothing);
    } else {
      (void)run_threads(bench, script);
    }
    return script.of(1).when - began;
  };
  EXPECT_EQ(when_done(95, true), 95 / 4 + 5U) << "the last one that the half has room for";
  EXPECT_EQ(when_done(96, true), 179 + 5U) << "as soon as the first one leaves";
  EXPECT_EQ(when_done(96, false), 96 / 4 + 5U);
  EXPECT_EQ(when_done(191, false), 191 / 4 + 5U);
  EXPECT_EQ(when_done(192, false), 179 + 5U);
}

// Half of the load queue are 64 loads, of the store queue 64 stores.
TEST(CoreThreads, have_half_of_the_queues_each) {
  const auto when_done = [](const Op& op, size_t count) {
    MemoryBench bench;
    std::vector<Op> ops(count, op);
    ops.front().address = address_of(bench.line_at_home(kCore));  // nothing before it leaves
    Op last = op;
    last.address = 0x300000;
    last.tag = 1;
    ops.push_back(last);
    ops.push_back({.kind = OpKind::kLoad, .after = {}, .address = 0x300000, .tag = 2});
    Script script(ops);
    Script nothing(std::vector<Op>{});
    const Cycle began = bench.events.now();
    (void)run_threads(bench, script, nothing);
    return script.of(2).when - began;
  };
  // Without room the last load enters when the first one leaves, and its line comes after that.
  const Cycle with_room = when_done(load(0x200000), 62);
  EXPECT_GT(when_done(load(0x200000), 64), with_room + 100);
}

TEST(CoreThreads, share_the_load_ports) {
  MemoryBench bench;
  const uint64_t line = address_of(bench.line_at_home(kCore));
  (void)run_alone(bench, {load(line)});
  const std::vector<Op> loads = times(50, load(line));
  EXPECT_EQ(run_alone(bench, loads), 24 + 5U) << "two a cycle";
  const Pair pair = run_threads(bench, loads, loads);
  EXPECT_EQ(std::max(pair.took[0], pair.took[1]), 49 + 5U) << "two a cycle of both";
}

TEST(CoreThreads, write_one_store_a_cycle_of_both) {
  MemoryBench bench;
  const uint64_t mine = address_of(bench.line_at_home(kCore));
  const uint64_t theirs = address_of(bench.line_at_home(kCore, 0x2000));
  (void)run_alone(bench, {store(mine), store(theirs)});
  // The first one enters in cycle 0, is done in 1, leaves in 1 and is written then.
  EXPECT_EQ(run_alone(bench, times(50, store(mine))), 1 + 49U);
  const Pair pair = run_threads(bench, times(50, store(mine)), times(50, store(theirs)));
  EXPECT_EQ(pair.took[1], 1 + 99U);
  EXPECT_EQ(pair.took[0], 1 + 98U) << "by turns: nobody starves";
}

// Loads of so many lines of one set of L1D in turn, each behind the one before.
std::vector<Op> round_trips(uint64_t first_line, uint64_t lines, size_t rounds) {
  std::vector<Op> ops;
  for (size_t i = 0; i < rounds * lines; ++i) {
    ops.push_back(load(address_of(first_line + i % lines * 64)));
    ops.back().after = {1, 0};
  }
  return ops;
}

TEST(CoreThreads, take_lines_of_l1d_from_each_other) {
  Parameters parameters = default_parameters();
  parameters.replacement = ReplacementChoice::kLru;
  const auto misses = [&](uint64_t mine, uint64_t theirs) {
    MemoryBench bench(parameters);
    // All are in L2, and others in L1D.
    (void)run_alone(bench, round_trips(0x10000, mine, 1));
    (void)run_alone(bench, round_trips(0x20000, theirs, 1));
    (void)run_alone(bench, round_trips(0x30000, 8, 1));
    const Pair pair =
        run_threads(bench, round_trips(0x10000, mine, 10), round_trips(0x20000, theirs, 10));
    return pair.counts[0].l1d_misses;
  };
  EXPECT_EQ(misses(4, 4), 4U) << "eight ways: each line comes once";
  EXPECT_EQ(misses(5, 0), 5U);
  EXPECT_EQ(misses(8, 0), 8U);
  EXPECT_EQ(misses(5, 5), 50U) << "ten lines in turn in eight ways";
}

// Any operations, with waits for those before. Far loads come one after the other, and no stores.
std::vector<Op> any_ops(traffic::Draw& draw, size_t count, uint64_t lines, bool is_far) {
  std::vector<Op> ops;
  size_t last_load = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t address = draw.below(lines) * 128;
    const uint64_t kind = draw.below(8);
    const bool is_load = kind < (is_far ? 5 : 3);
    Op op = is_load    ? load(address, static_cast<uint32_t>(i + 1))
            : kind < 5 ? store(address + 64, i)
                       : Op{.instructions = static_cast<uint16_t>(1 + draw.below(9)),
                            .cycles = static_cast<uint16_t>(draw.below(12))};
    if (kind == 7) op.stop = draw.below(2) == 0 ? FetchStop::kMispredicted : FetchStop::kUntilDone;
    op.after = {static_cast<uint16_t>(draw.below(6)), static_cast<uint16_t>(draw.below(40))};
    if (is_load && is_far) op.after[0] = static_cast<uint16_t>(i - last_load);
    if (is_load) last_load = i;
    ops.push_back(op);
  }
  return ops;
}

// Entering cycle by cycle and ahead of time is the same but for ties: of loads that are ready in
// the same cycle, whoever was known first has the port, and the link of the mesh.
TEST(CoreThreads, one_that_is_alone_takes_what_a_core_takes) {
  Parameters parameters = default_parameters();
  parameters.core_load_ports = 8;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const bool is_far = seed % 2 == 0;
    const uint64_t lines = is_far ? 40'000 : 200;
    traffic::Draw draw(seed);
    const std::vector<Op> ops = any_ops(draw, 3000, lines, is_far);
    MemoryBench one(parameters);
    MemoryBench other(parameters);
    for (MemoryBench* bench : {&one, &other}) {
      for (uint64_t line = 0; line < 2 * lines && !is_far; ++line)
        (void)run_alone(*bench, {load(line * 64)});
    }
    const Script alone = one.run(kCore, ops);
    Script thread(ops);
    const Pair pair = run_threads(other, thread);
    EXPECT_EQ(pair.took[0], one.ended - one.began) << seed;
    for (uint32_t tag = 1; tag <= ops.size(); ++tag) {
      if (ops[tag - 1].kind != OpKind::kLoad) continue;
      ASSERT_EQ(thread.of(tag).when - other.began, alone.of(tag).when - one.began)
          << seed << ": " << tag;
    }
  }
}

TEST(CoreThreads, each_sees_its_own_stores) {
  MemoryBench bench;
  ASSERT_TRUE(bench.memory.bytes().put_zeroes(0, 1 << 20).ok());
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::array<std::vector<Op>, 2> ops;
    traffic::Draw draw(seed);
    std::array<uint64_t, 2> last{};
    std::array<std::vector<uint64_t>, 2> expected;
    for (size_t thread = 0; thread < 2; ++thread) {
      const uint64_t address = 64 * (1 + seed * 2 + thread);
      for (uint32_t tag = 1; tag <= 200; ++tag) {
        if (draw.below(2) == 0) ops[thread].push_back(store(address, last[thread] = draw.word()));
        ops[thread].push_back(load(address, tag));
        expected[thread].push_back(last[thread]);
      }
    }
    std::array<Script, 2> scripts{Script(ops[0]), Script(ops[1])};
    (void)run_threads(bench, scripts[0], scripts[1]);
    for (size_t thread = 0; thread < 2; ++thread)
      for (uint32_t tag = 1; tag <= 200; ++tag)
        ASSERT_EQ(scripts[thread].of(tag).word, expected[thread][tag - 1]) << seed << ": " << tag;
  }
}

}  // namespace
}  // namespace roost::sim
