// What the measuring program does in a process, on tiny tables: its rows for each contestant, and
// that replacements leave in a table what they say.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "lab/contestants/line_up.h"
#include "lab/jobs/job.h"
#include "lab/jobs/record_row.h"
#include "lab/jobs/replacement.h"
#include "lab/jobs/update_writer.h"
#include "lab/jobs/watched_keys.h"

namespace roost::lab {
namespace {

constexpr uint64_t kSlots = 4096;
constexpr uint64_t kEntries = 3276;

class ReplacedTable : public testing::Test {
 protected:
  void SetUp() override {
    auto made = find_contestant("roost_flow_table")->create(kSlots, PageKind::kSmall);
    ASSERT_TRUE(made.ok());
    table_ = std::move(made).value();
    ASSERT_EQ(table_->insert(keys_, 0, kEntries, 1).stored, kEntries);
  }

  uint64_t replace(uint64_t steps, uint64_t leaving, uint64_t arriving) {
    return replace_entries(*table_, keys_, {kEntries, steps, leaving, arriving}).stored;
  }

  // How many of a generation's keys the table has.
  uint64_t held(uint64_t generation) {
    std::vector<Key> keys;
    for (uint64_t place = 0; place < kEntries; ++place)
      keys.push_back(keys_.inserted(first_key_of(generation) + place));
    return table_->pass(Stream(keys), kPlainCall).hit_count;
  }

  traffic::KeySource keys_{1};
  std::unique_ptr<AnyTable> table_;
};

TEST_F(ReplacedTable, holds_the_next_generation_and_nothing_else_after_a_whole_one) {
  EXPECT_EQ(replace(kEntries, 0, 1), kEntries);
  EXPECT_EQ(held(0), 0U);
  EXPECT_EQ(held(1), kEntries);
  EXPECT_EQ(table_->stats()->size, kEntries);
}

TEST_F(ReplacedTable, holds_what_it_held_when_what_left_has_come_back) {
  EXPECT_EQ(replace(1000, 0, 1), 1000U);
  EXPECT_EQ(held(0), kEntries - 1000);
  EXPECT_EQ(held(1), 1000U);
  EXPECT_EQ(replace(1000, 1, 0), 1000U);
  EXPECT_EQ(held(0), kEntries);
}

TEST_F(ReplacedTable, ends_at_a_key_that_is_not_there) {
  EXPECT_EQ(replace(1000, 0, 1), 1000U);
  EXPECT_EQ(replace(1000, 0, 2), 0U);
}

JobConfig tiny(std::vector<std::string> contestants) {
  JobConfig config;
  config.experiment = "tiny";
  config.contestants = std::move(contestants);
  config.slots = kSlots;
  config.loads = {0.8};
  config.lookups = 2000;
  config.cores = {0};
  config.rounds = 2;
  return config;
}

// "contestant form note" of each row.
std::vector<std::string> words_of(const Rows& rows) {
  std::vector<std::string> words;
  for (const RecordRow& row : rows) words.push_back(row.contestant + ' ' + row.form + row.note);
  return words;
}

using Words = std::vector<std::string>;

TEST(ReplacementJob, contestants_take_turns_and_rows_say_what_was_timed) {
  const auto rows =
      run_replacement_job(tiny({"boost_flat_map", "roost_flow_table"}), [](double, auto&) {});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(words_of(rows.value()),
            (Words{"boost_flat_map one by one", "roost_flow_table one by one",
                   "boost_flat_map one by one", "roost_flow_table one by one"}));
  const RecordRow& last = rows.value().back();
  EXPECT_EQ(last.round, 1U);
  EXPECT_EQ(last.operations, 2000U) << "away and back";
  EXPECT_EQ(last.metric, "replacements_m_per_s");
  EXPECT_GT(*last.value, 0);
  EXPECT_EQ(last.line_hint, "T0");
  EXPECT_GT(*last.table_bytes, 32 * kSlots);
}

TEST(FillJob, one_key_a_call_is_a_form_and_who_has_no_batches_is_filled_once) {
  JobConfig config = tiny({"roost_flow_table", "boost_flat_map"});
  config.calls = {Call{1}, Call{32}};
  config.rounds = 1;
  const auto rows = run_fill_job(config, [](double, auto&) {});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(words_of(rows.value()),
            (Words{"roost_flow_table 1 keys a call", "roost_flow_table 32 keys a call",
                   "boost_flat_map one by one"}));
  EXPECT_EQ(rows.value().front().line_hint, "T0");
  EXPECT_EQ(rows.value().back().lanes_per_call, 1U);
}

TEST(StructureJob, a_table_that_has_aged_sends_other_lookups_to_a_second_line_but_not_many_more) {
  JobConfig config = tiny({"roost_flow_table", "boost_flat_map"});
  config.loads = {0.95};
  config.ages = {1, 4};
  config.lookups = 20'000;
  const auto rows = run_structure_job(config, [](double, auto&) {});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  std::vector<double> on_hits;
  std::vector<double> on_misses;
  Words said;
  for (const RecordRow& row : rows.value()) {
    if (row.metric != "second_lines") continue;
    said.push_back(row.contestant + ' ' + row.workload + row.note);
    if (row.value) (*row.miss_ratio == 0 ? on_hits : on_misses).push_back(*row.value);
  }
  EXPECT_EQ(said, (Words{"roost_flow_table uniform", "roost_flow_table uniform",
                         "roost_flow_table replaced 1 times", "roost_flow_table replaced 1 times",
                         "roost_flow_table replaced 4 times", "roost_flow_table replaced 4 times",
                         "boost_flat_map uniformnot run: it does not count"}));
  ASSERT_EQ(on_hits.size(), 3U);
  for (size_t aged : {1U, 2U}) {
    EXPECT_NE(on_hits[aged], on_hits[0]);
    EXPECT_LT(on_hits[aged], 1.3 * on_hits[0]);
    EXPECT_NE(on_misses[aged], on_misses[0]);
  }
  EXPECT_LT(on_misses.back(), on_hits.back());
}

TEST(StructureJob, a_table_that_refuses_a_key_has_no_age) {
  JobConfig config = tiny({"roost_flow_table"});
  config.loads = {1.0};
  config.ages = {1};
  const auto rows = run_structure_job(config, [](double, auto&) {});
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows.value().back().note, "not run: it refused a key while it was filled");
}

// Of rows with this metric.
double sum_of(const Rows& rows, const std::string& metric) {
  double sum = 0;
  for (const RecordRow& row : rows)
    if (row.metric == metric) sum += row.value.value_or(0);
  return sum;
}

TEST(UpdateJob, readers_beside_a_writer_are_timed_and_every_answer_is_right) {
  JobConfig config =
      tiny({"roost_packed_shared", "cuckooswitch", "roost_packed", "oracle_two_line_t0"});
  config.key_bits = 48;
  config.loads = {0.95};
  config.calls = {Call{32}};
  config.cores = {0, 0};  // which the two take turns on
  config.shared = true;
  config.lookups = 200'000;
  const auto rows = run_update_job(config, [](double, auto&) {});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(sum_of(rows.value(), "wrong_reads"), 0);
  EXPECT_GT(sum_of(rows.value(), "updates_k_per_s"), 0);
  Words workloads;
  for (const RecordRow& row : rows.value())
    if (row.metric == "lookups_m_per_s" && row.contestant == "cuckooswitch")
      workloads.push_back(row.workload);
  EXPECT_EQ(workloads,
            (Words{"idle writer", "500000 updates/s", "idle writer", "500000 updates/s"}));
  EXPECT_EQ(rows.value().front().note, "not run: one thread has it to itself");
  EXPECT_EQ(rows.value().back().note, "not run: nobody may read it while it changes");
}

TEST(WatchedKeys, tell_stale_answers_from_those_of_a_moment_of_the_lookup) {
  WatchedKeys watched(2);
  watched.begin(1);
  watched.end(1);
  const uint8_t before = watched.before(1);
  EXPECT_TRUE(watched.allows(1, before, 1));
  EXPECT_FALSE(watched.allows(1, before, 0)) << "stale";
  EXPECT_FALSE(watched.allows(1, before, 2)) << "never written";
  EXPECT_TRUE(watched.allows_presence(1, before, true));
  EXPECT_FALSE(watched.allows_presence(1, before, false)) << "lost";
  EXPECT_EQ(watched.begin(1), 2);
  EXPECT_TRUE(watched.allows(1, before, 1)) << "not yet replaced";
  EXPECT_TRUE(watched.allows(1, before, 2)) << "already there";
  EXPECT_TRUE(watched.allows_presence(1, before, false)) << "it goes meanwhile";
  watched.end(1);
  EXPECT_FALSE(watched.allows(1, watched.before(1), 1));
  EXPECT_FALSE(watched.allows_presence(1, watched.before(1), true)) << "resurrected";
  EXPECT_FALSE(watched.allows(0, watched.before(0), 1)) << "another key's change";
}

// A shared table whose readers see nothing of what the writer does.
TEST(UpdateWriter, changes_are_seen_where_a_table_forgets_them) {
  auto made = find_contestant("roost_packed_shared")->create(kSlots, PageKind::kSmall);
  auto other = find_contestant("roost_packed_shared")->create(kSlots, PageKind::kSmall);
  ASSERT_TRUE(made.ok() && other.ok());
  const traffic::KeySource keys(1, 48);
  AnyTable& table = *made.value();
  for (AnyTable* each : {&table, other.value().get()})
    ASSERT_EQ(each->insert(keys, 0, 3000, 1).stored, 3000U);
  WatchedKeys watched(4000);
  uint64_t stale = 0;
  {
    UpdateWriter writer({.table = other.value().get(),
                         .watched = &watched,
                         .keys = keys,
                         .shape = {.staying = 2000, .passing = 2000},
                         .updates_per_second = 1'000'000,
                         .core = 0});
    writer.start();
    while (writer.changes() < 6000) std::this_thread::yield();
  }
  for (uint64_t index = 0; index < 2000; ++index) {
    const Key key = keys.inserted(index);
    AnyTable::Seen seen{};
    table.look_up(std::span(&key, 1), std::span(&seen, 1));
    EXPECT_TRUE(seen.is_hit && seen.is_of_key);
    stale += uint64_t{!watched.allows(index, watched.before(index), seen.generation)};
  }
  EXPECT_GT(stale, 1000U);
}

TEST(BulkJob, says_what_a_table_takes_and_that_it_is_whole) {
  JobConfig config = tiny({"roost_packed_shared", "google_dense_hash_map_mac"});
  config.key_bits = 48;
  config.loads = {0.93};
  const auto rows = run_bulk_job(config, [](double, auto&) {});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  Words metrics;
  for (const RecordRow& row : rows.value()) metrics.push_back(row.metric);
  EXPECT_EQ(metrics, (Words{"bulk_seconds", "bytes_per_entry", "kicks_per_insert", "audit_seconds",
                            "bulk_seconds", "bytes_per_entry"}));
  EXPECT_GT(*rows.value()[1].value, 8);
  EXPECT_LT(*rows.value()[1].value, 10);
  config.cores = {0, 0};
  const Rows by_two = run_bulk_job(config, [](double, auto&) {}).value();
  EXPECT_EQ(by_two.front().metric, "bulk_seconds");
  EXPECT_EQ(by_two.front().operations, rows.value().front().operations);
  EXPECT_EQ(by_two.back().note, "not run: it is filled by one thread only");
}

TEST(LookupJob, cores_that_share_a_table_have_one_and_all_its_answers_are_checked) {
  JobConfig config = tiny({"roost_packed_shared", "roost_packed"});
  config.key_bits = 48;
  config.miss_ratios = {0.5};
  config.calls = {Call{32}};
  config.cores = {0, 0};
  config.shared = true;
  config.counts = false;
  const auto rows = run_lookup_job(config, [](double, auto&) {});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ(rows.value().front().note, "not run: one thread has it to itself");
  EXPECT_EQ(rows.value().back().core_count, 2U);
}

TEST(RecordRows, counts_are_whole_and_what_was_measured_has_six_digits) {
  RecordRow row;
  row.value = 198'912'345;
  EXPECT_NE(csv_line(row).find(",198912345,"), std::string::npos) << csv_line(row);
  row.value = 453.38219;
  EXPECT_NE(csv_line(row).find(",453.382,"), std::string::npos) << csv_line(row);
}

}  // namespace
}  // namespace roost::lab
