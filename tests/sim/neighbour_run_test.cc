// What a program loses beside lookups: a trace that is made up, whose cycles are added up by hand.
#include "sim/neighbour_run.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {
namespace {

// Twice so many loads of lines in turn, each with three instructions before it.
MemoryTrace trace_of(uint64_t loads, uint64_t lines) {
  std::string text;
  for (uint64_t i = 0; i < 2 * loads; ++i) {
    for (int own = 0; own < 4; ++own) text += "I  1000,4\n";
    char line[40];
    const unsigned long long address = 0x100000 + i % lines * 64;
    std::snprintf(line, sizeof(line), " L %llx,8\n", address);
    text += line;
  }
  return parse_memory_trace(text).value();
}

class Neighbours : public testing::Test {
 protected:
  Neighbours() {
    parameters_.neighbour_waiting_loads = 0;
    for (uint64_t i = 0; i < 2000; ++i) keys_.push_back(bytes_of(key_of(2 * (i % kHeld))));
    words_ = words_of({{table_.image()}}, keys_).value();
  }
  NeighbourFigures figures(const MemoryTrace& trace, OtherThread other,
                           LookupRun* lookups = nullptr) {
    if (lookups != nullptr) {
      lookups->tables = {{table_.image()}};
      lookups->trace = {keys_, words_};
      lookups->is_cold = false;
    }
    return run_neighbour(parameters_, {.trace = &trace, .other = other, .lookups = lookups})
        .value();
  }

  static constexpr uint64_t kHeld = 3000;
  PaperTable table_ = paper_table(kHeld, 512);
  std::vector<KeyBytes> keys_;
  std::vector<uint64_t> words_;
  Parameters parameters_ = default_parameters();
};

// 4,000 instructions, four a cycle; then the last load.
TEST_F(Neighbours, alone_the_second_half_takes_what_its_instructions_take) {
  const NeighbourFigures found = figures(trace_of(1000, 100), OtherThread::kNone);
  EXPECT_EQ(found.cycles, 999U + 5U);
  EXPECT_DOUBLE_EQ(found.instructions_a_cycle, 4000.0 / 1004.0);
  EXPECT_EQ(found.l1d_miss_share, 0) << "the first half brought all lines";
  EXPECT_EQ(found.lookups_per_second, 0);
}

TEST_F(Neighbours, lines_that_do_not_fit_l1d_are_missed) {
  // 8 lines more than its 512, in turn: by LRU every line is gone when it is needed again.
  parameters_.replacement = ReplacementChoice::kLru;
  EXPECT_EQ(figures(trace_of(5'760, 576), OtherThread::kNone).l1d_miss_share, 1);
  EXPECT_EQ(figures(trace_of(5'120, 512), OtherThread::kNone).l1d_miss_share, 0);
}

// The other one enters an instruction in cycle 0 or 1, and then every 301 cycles.
TEST_F(Neighbours, one_that_waits_costs_a_cycle_now_and_then) {
  const NeighbourFigures found = figures(trace_of(1000, 100), OtherThread::kWaits);
  EXPECT_EQ(found.cycles, 999U + 5U + 4U);
  EXPECT_EQ(found.l1d_miss_share, 0);
}

TEST_F(Neighbours, lookups_by_accelerator_cost_less_than_by_software) {
  const MemoryTrace trace = trace_of(5000, 400);
  LookupRun blocking;
  const NeighbourFigures beside_blocking = figures(trace, OtherThread::kAsks, &blocking);
  LookupRun by_eight{.way = {.is_blocking = false}};
  const NeighbourFigures beside_eight = figures(trace, OtherThread::kAsks, &by_eight);
  LookupRun software;
  software.software = software_cost("rte_hash_one", 16);
  const NeighbourFigures beside_software = figures(trace, OtherThread::kAsks, &software);
  const NeighbourFigures waiting = figures(trace, OtherThread::kWaits);
  EXPECT_LT(waiting.cycles, beside_blocking.cycles);
  EXPECT_LT(beside_blocking.cycles, beside_eight.cycles);
  EXPECT_LT(beside_eight.cycles, beside_software.cycles);
  EXPECT_GT(beside_blocking.lookups_per_second, 5e6);
  EXPECT_GT(beside_eight.lookups_per_second, 2 * beside_blocking.lookups_per_second);
  EXPECT_GT(beside_software.l1d_miss_share, 2 * beside_blocking.l1d_miss_share);
}

TEST_F(Neighbours, a_wrong_word_and_a_run_that_is_too_long_are_errors) {
  const MemoryTrace trace = trace_of(5000, 100);
  const auto long_run = run_neighbour(parameters_, {.trace = &trace, .cycles_max = 100});
  ASSERT_FALSE(long_run.ok());
  EXPECT_NE(long_run.error().message.find("100 cycles have passed"), std::string::npos);
  words_[3] = found_word(12345);
  const LookupRun run{.tables = {{table_.image()}}, .trace = {keys_, words_}};
  const auto wrong =
      run_neighbour(parameters_, {.trace = &trace, .other = OtherThread::kAsks, .lookups = &run});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("not answered as the table says"), std::string::npos);
}

}  // namespace
}  // namespace roost::sim
