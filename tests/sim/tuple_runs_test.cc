// Searches of several tables on a machine: what one takes, added up; answers; what more tables do.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "sim/machine.h"
#include "tests/sim/tuple_tables.h"

namespace roost::sim {
namespace {

// On one tile, as in accelerator_scenario_test.cc, which takes 104 cycles for a hit in one table.
TEST(TupleRuns, blocking_takes_what_lookups_one_after_the_other_take) {
  Parameters parameters = default_parameters();
  parameters.mesh_columns = parameters.mesh_rows = 1;
  const TupleTables tables(2);
  const uint64_t i = plain_key(tables, 1);
  const AskedTuples asked(tables, {i});
  LookupBench bench(parameters, asked.run[0].image, asked.run[0].mask);
  const uint64_t other = put_table(bench.machine.bytes(), kTableAddress + 0x11000,
                                   asked.run[1].image, asked.run[1].mask)
                             .value();
  const auto store_key = [&] {
    return Op{.kind = OpKind::kStore,
              .bytes = 16,
              .address = kKeysAddress,
              .data = {tables.packet_key(i).words[0], tables.packet_key(i).words[1]}};
  };
  const auto look_up = [&](uint64_t table, uint32_t tag) {
    return Op{
        .kind = OpKind::kLookupB, .bytes = 16, .address = kKeysAddress, .table = table, .tag = tag};
  };
  Cycle first = 0;
  Cycle second = 0;
  for (int time = 0; time < 2; ++time) {  // lines and metadata are there the second time
    bench.run(0, {store_key()});
    const Script script = bench.run(0, {look_up(bench.table, 1), look_up(other, 2)});
    EXPECT_EQ(script.of(1).word, kNotFoundWord);
    EXPECT_EQ(script.of(2).word, found_word(i));
    first = script.of(1).when - bench.began;
    second = script.of(2).when - script.of(1).when;
  }
  // 2 to the unit; 1 in its queue and 2 for metadata; 3 for a read to go out, 10 + 30 for the key
  // from the core; 1 to mask it, 4 for the hash; 2 locks, 3 and 10 + 8 for the bucket, 1 to
  // compare; 3 and 18 for the other one, 1 to compare; 3 + 2 for the word.
  EXPECT_EQ(first, 2U + (1 + 2) + (3 + 40) + (1 + 4) + (2 + 3 + 18) + 1 + (3 + 18) + 1 + (3 + 2));
  // The key is in the slice from then on; it is in the first bucket, and its entry is locked, read
  // and compared.
  EXPECT_EQ(second,
            2U + (1 + 2) + (3 + 18) + (1 + 4) + (2 + 3 + 18) + 1 + (1 + 3 + 18) + 1 + (3 + 2));
}

constexpr std::array<LookupWay, 4> kWaysAsked = {
    LookupWay{.is_blocking = true}, LookupWay{.is_blocking = false, .batches_in_flight = 1},
    LookupWay{.is_blocking = false, .batches_in_flight = 4},
    LookupWay{.is_blocking = false, .batches_in_flight = 8}};

TEST(TupleRuns, every_way_answers_as_the_tables_do) {
  constexpr size_t kCount = 7;
  const TupleTables tables(kCount);
  std::vector<uint64_t> numbers;  // every third one is in no table
  for (uint64_t i = 0; i < 300; ++i) numbers.push_back(i % 3 == 0 ? 90'000 + i : i);
  const AskedTuples asked(tables, numbers);
  LookupRun run{.tables = asked.run,
                .trace = asked.trace(),
                .is_cold = false,
                .warm_up = 100,
                .lookups = 200,
                .cycles_max = 10'000'000};
  std::set<Tile> units;
  const Machine machine(default_parameters());
  for (const uint64_t address : asked.addresses)
    units.insert(const_cast<Machine&>(machine).memory().slice_of(line_of(address)));
  double hits = 0;
  double asked_in_turn = 0;
  for (size_t i = 100; i < 300; ++i) {
    hits += i % 3 == 0 ? 0 : 1;
    asked_in_turn += i % 3 == 0 ? kCount : static_cast<double>(i % kCount + 1);
  }
  for (const LookupWay way : kWaysAsked) {
    for (const uint32_t cores : {1U, 3U}) {
      run.way = way;
      run.cores = cores;
      const auto made = run_lookups(default_parameters(), run);
      ASSERT_TRUE(made.ok()) << made.error().message;
      const LookupFigures& figures = made.value();
      EXPECT_DOUBLE_EQ(figures.hit_share, hits / 200);
      EXPECT_DOUBLE_EQ(figures.tables_per_lookup,
                       way.is_blocking ? asked_in_turn / 200 : double{kCount});
      EXPECT_EQ(figures.accelerators, units.size());
      EXPECT_GE(figures.busiest_share, 1.0 / static_cast<double>(units.size()));
    }
  }
  run.cores = 2;
  for (const uint32_t keys_a_call : {1U, 32U}) {
    const SoftwareCost cost{.name = "made up", .keys_a_call = keys_a_call};
    run.software = &cost;
    const auto made = run_lookups(default_parameters(), run);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_DOUBLE_EQ(made.value().hit_share, hits / 200);
  }
}

TEST(TupleRuns, a_word_that_is_not_the_table_s_is_an_error) {
  const TupleTables tables(4);
  AskedTuples asked(tables, {0, 1, 2, 3});
  asked.words[4 * 2 + 2] = found_word(17);  // of key 2, by the table that has it
  for (const bool is_blocking : {true, false}) {
    const auto figures = run_lookups(default_parameters(), {.tables = asked.run,
                                                            .trace = asked.trace(),
                                                            .way = {.is_blocking = is_blocking},
                                                            .lookups = 4});
    ASSERT_FALSE(figures.ok());
    EXPECT_NE(figures.error().message.find("1 of them not as the table says"), std::string::npos);
  }
}

// Laws: more tables take longer; all at once are no faster than the slowest unit allows.
TEST(TupleRuns, more_tables_take_longer_and_units_answer_no_faster_than_they_can) {
  std::array<Cycle, kWaysAsked.size()> last{};
  for (const size_t count : {1U, 2U, 4U, 8U, 16U}) {
    const TupleTables tables(count);
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < 128; ++i) numbers.push_back(count * i + count - 1);
    const AskedTuples asked(tables, numbers);
    for (size_t way = 0; way < kWaysAsked.size(); ++way) {
      const LookupFigures figures = run_lookups(default_parameters(), {.tables = asked.run,
                                                                       .trace = asked.trace(),
                                                                       .way = kWaysAsked[way],
                                                                       .is_cold = false,
                                                                       .warm_up = 128,
                                                                       .lookups = 128,
                                                                       .cycles_max = 10'000'000})
                                        .value();
      EXPECT_GT(figures.cycles, last[way]) << count << " tables, way " << way;
      last[way] = figures.cycles;
      EXPECT_LE(figures.places_used, 10.0);
      // Little: the busiest unit's lookups, each of which takes at least 60 cycles of a place.
      const double of_busiest = 128 * figures.tables_per_lookup * figures.busiest_share;
      EXPECT_LE(of_busiest * 60, 10.0 * static_cast<double>(figures.cycles));
    }
  }
}

}  // namespace
}  // namespace roost::sim
