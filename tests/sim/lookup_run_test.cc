// Points and sweeps: lookups of a trace on a machine, and what they are over many machines.
#include "sim/lookup_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/parameter_sweep.h"
#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {
namespace {

constexpr uint64_t kHeld = 3000;

// Keys that are in the table and that are not, by turns, but for every third.
class LookupRuns : public testing::Test {
 protected:
  LookupRuns() {
    for (uint64_t i = 0; i < 2000; ++i) {
      numbers_.push_back(i % 3 == 0 ? 2 * i + 1 : 2 * (i % kHeld));
      keys_.push_back(bytes_of(key_of(numbers_.back())));
    }
    words_ = words_of({{image_of(table_)}}, keys_).value();
  }
  [[nodiscard]] LookupRun run(LookupWay way, uint32_t cores) const {
    return {.tables = {{image_of(table_)}},
            .trace = {keys_, words_},
            .way = way,
            .cores = cores,
            .warm_up = 333,
            .lookups = 1667,
            .cycles_max = 10'000'000};
  }
  static std::string error_of(const LookupRun& run) {
    const auto figures = run_lookups(default_parameters(), run);
    return figures ? "none" : figures.error().message;
  }

  PaperTable table_ = paper_table(kHeld, 512);
  std::vector<uint64_t> numbers_;
  std::vector<KeyBytes> keys_;
  std::vector<uint64_t> words_;
};

TEST_F(LookupRuns, every_way_answers_as_the_table_does) {
  for (const LookupWay way :
       {LookupWay{.is_blocking = true}, LookupWay{.is_blocking = false, .batches_in_flight = 1},
        LookupWay{.is_blocking = false, .batches_in_flight = 3},
        LookupWay{.is_blocking = false, .batches_in_flight = 8}}) {
    for (const uint32_t cores : {1U, 3U, 16U}) {
      const auto figures = run_lookups(default_parameters(), run(way, cores));
      ASSERT_TRUE(figures.ok()) << figures.error().message;
      uint64_t hits = 0;
      for (size_t i = 333; i < 2000; ++i) hits += numbers_[i] % 2 == 0 ? 1U : 0U;
      EXPECT_DOUBLE_EQ(figures.value().hit_share, static_cast<double>(hits) / 1667);
      EXPECT_EQ(figures.value().accelerators, 1U) << "one table is one accelerator's";
    }
  }
}

TEST_F(LookupRuns, lines_and_second_buckets_are_those_of_the_keys) {
  LookupBench bench(default_parameters(), image_of(table_));
  uint64_t lines = 0;
  uint64_t second = 0;
  uint64_t mismatches = 0;
  const auto read = [&](uint64_t i, uint64_t bucket) {
    const LineBytes line =
        bench.machine.bytes().read_line(line_of(bucket_address(bench.metadata, bucket)));
    ++lines;
    for (uint32_t left = candidates(bench.metadata, line, bench.places(i).tag, bytes_of(key_of(i)));
         left != 0; left &= left - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(left));
      KeyBytes key{};
      bench.machine.bytes().read(entry_address(bench.metadata, bucket, slot, line),
                                 std::span(key).first(16));
      ++lines;  // an entry of 32 bytes, which crosses none
      if (key == bytes_of(key_of(i))) return true;
      ++mismatches;
    }
    return false;
  };
  for (size_t n = 333; n < 2000; ++n) {
    const KeyPlaces where = bench.places(numbers_[n]);
    if (read(numbers_[n], where.primary)) continue;
    ++second;
    (void)read(numbers_[n], where.secondary);
  }
  const auto figures = run_lookups(default_parameters(), run({}, 1)).value();
  EXPECT_DOUBLE_EQ(figures.lines_per_lookup, static_cast<double>(lines) / 1667);
  EXPECT_DOUBLE_EQ(figures.second_bucket_share, static_cast<double>(second) / 1667);
  EXPECT_DOUBLE_EQ(figures.mismatches_per_lookup, static_cast<double>(mismatches) / 1667);
  EXPECT_GT(second, 1667U / 3);
}

TEST_F(LookupRuns, lookups_that_overlap_fill_the_scoreboard) {
  const auto rate = [&](LookupWay way) {
    return run_lookups(default_parameters(), run(way, 1)).value();
  };
  const LookupFigures one = rate({.is_blocking = true});
  const LookupFigures eight = rate({.is_blocking = false});
  const LookupFigures many = rate({.is_blocking = false, .batches_in_flight = 4});
  EXPECT_LE(one.places_used, 1.0);
  EXPECT_DOUBLE_EQ(one.full_share, 0.0);
  EXPECT_GT(eight.lookups_per_second, 2 * one.lookups_per_second);
  EXPECT_GT(many.lookups_per_second, eight.lookups_per_second);
  EXPECT_GT(many.places_used, 8.0);
  EXPECT_LE(many.places_used, 10.0);
  EXPECT_GT(many.waiting_max, 0U);
  EXPECT_DOUBLE_EQ(one.lookups_per_second, 2.1e9 / one.cycles_per_lookup);
}

TEST_F(LookupRuns, a_word_that_is_not_the_table_s_is_an_error) {
  words_[1000] = kNotFoundWord + found_word(7);
  for (const bool is_blocking : {true, false}) {
    EXPECT_EQ(error_of(run({.is_blocking = is_blocking}, 2)),
              "of 1667 lookups 1667 were answered, 1 of them not as the table says; this is a "
              "fault of the simulator");
  }
}

TEST_F(LookupRuns, a_run_that_takes_too_long_says_who_waits) {
  LookupRun short_run = run({.is_blocking = false}, 1);
  short_run.cycles_max = 300;
  const std::string error = error_of(short_run);
  EXPECT_NE(error.find("300 cycles have passed"), std::string::npos) << error;
  EXPECT_NE(error.find("core 0"), std::string::npos) << error;
}

size_t index_of(uint32_t Parameters::*value) {
  const auto infos = parameter_infos();
  return static_cast<size_t>(std::ranges::find(infos, value, &ParameterInfo::value) -
                             infos.begin());
}

TEST(Sweep, has_the_middle_both_ends_of_each_open_number_and_samples) {
  const MachineDescription& machine = default_machine();
  const ParameterSweep sweep(machine, 50, 9);
  const auto infos = parameter_infos();
  size_t open = 0;
  for (size_t i = 0; i < infos.size(); ++i) {
    const auto& values = machine.ranges[i].values;
    const bool is_open = values[0] != values[2] && infos[i].table != "hybrid";
    open += is_open ? 1 : 0;
    for (const Parameters& one : sweep.machines()) {
      const uint32_t value = one.*infos[i].value;
      if (is_open) {
        EXPECT_NE(std::ranges::count(values, value), 0) << infos[i].name;
      } else {
        EXPECT_EQ(value, values[1]) << infos[i].name;
      }
    }
  }
  EXPECT_EQ(sweep.open_count(), open);
  EXPECT_EQ(sweep.sample_count(), 50U);
  EXPECT_EQ(sweep.machines().size(), 1 + 2 * open + 50);
  const ParameterSweep again(machine, 50, 9);
  const ParameterSweep other(machine, 50, 10);
  const auto hops = [](const ParameterSweep& from) {
    std::vector<uint32_t> values;
    for (const Parameters& one : from.machines()) values.push_back(one.mesh_hop_cycles);
    return values;
  };
  EXPECT_EQ(hops(sweep), hops(again));
  EXPECT_NE(hops(sweep), hops(other));
}

TEST(Sweep, names_the_numbers_that_move_a_measure_most) {
  const ParameterSweep sweep(default_machine(), 30, 1);
  std::vector<double> values;
  for (const Parameters& one : sweep.machines()) {
    values.push_back(1000.0 - 10.0 * one.mesh_hop_cycles + 3.0 * one.dram_channels -
                     1.0 * one.core_branch_cycles);
  }
  const SweptMeasure measure = sweep.measure_of(values);
  EXPECT_DOUBLE_EQ(measure.middle, 1000 - 20 + 18 - 16);
  EXPECT_DOUBLE_EQ(measure.least, std::ranges::min(values));
  EXPECT_DOUBLE_EQ(measure.greatest, std::ranges::max(values));
  ASSERT_EQ(measure.sensitivities.size(), sweep.open_count());
  EXPECT_EQ(measure.sensitivities[0].parameter->name, "hop_cycles");     // 20
  EXPECT_EQ(measure.sensitivities[1].parameter->name, "channels");       // 15
  EXPECT_EQ(measure.sensitivities[2].parameter->name, "branch_cycles");  // 6
  EXPECT_EQ(measure.sensitivities[1].low, 1U);
  EXPECT_DOUBLE_EQ(measure.sensitivities[1].at_low, 1000 - 20 + 3 - 16);
  EXPECT_DOUBLE_EQ(measure.sensitivities[1].at_high, measure.middle);
  EXPECT_DOUBLE_EQ(measure.sensitivities[3].at_low, measure.middle);
}

TEST(Sweep, leaves_out_machines_that_cannot_be) {
  MachineDescription machine = default_machine();
  machine.ranges[index_of(&Parameters::l1d_hit_cycles)].values = {4, 5, 12};
  machine.ranges[index_of(&Parameters::l2_hit_cycles)].values = {8, 9, 14};
  const ParameterSweep sweep(machine, 200, 1);
  EXPECT_EQ(sweep.sample_count(), 200U);
  EXPECT_EQ(sweep.machines().size(), 1 + 2 * sweep.open_count() - 1 + 200)
      << "an L1D of 12 cycles before an L2 of 9";
  for (const Parameters& one : sweep.machines()) EXPECT_TRUE(geometry_faults(one).empty());
}

}  // namespace
}  // namespace roost::sim
