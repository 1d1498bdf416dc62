// The traps of 16-bit timers, each test named after what it protects. The X-numbers are those of
// docs/papers.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/trap_table.h"

namespace roost {
namespace {

using Table = TimedTable;

// --- validity is strict, and timeouts are clamped to what can be told from the past.
// ---

TEST(X24, a_timeout_lasts_exactly_its_ticks_and_never_more_than_1023) {
  for (const uint64_t start :
       {uint64_t{0}, uint64_t{1}, uint64_t{65'530}, uint64_t{65'536}, uint64_t{1} << 40}) {
    for (const TickCount timeout :
         {0U, 1U, 2U, 1022U, 1023U, 1024U, 1025U, 65'535U, 65'536U, 4'000'000'000U}) {
      Table table = make(64);
      ASSERT_EQ(table.advance(Tick{start}), AdvanceOutcome::kAdvanced);
      const Key16 key = Key16::of(5);
      ASSERT_EQ(table.insert(key, 9, timeout), InsertOutcome::kInserted);
      ASSERT_NE(table.find(key), nullptr) << "start " << start << " timeout " << timeout;
      const uint64_t lasts = std::min<uint64_t>(timeout, 1023);
      table.advance(Tick{start + lasts});
      ASSERT_NE(table.find(key), nullptr) << "start " << start << " timeout " << timeout;
      table.advance(Tick{start + lasts + 1});
      ASSERT_EQ(table.find(key), nullptr) << "start " << start << " timeout " << timeout;
    }
  }
}

TEST(X25, an_entry_whose_last_tick_is_now_is_live) {
  Table table = make(64);
  ASSERT_EQ(table.insert(Key16::of(1), 1, 0), InsertOutcome::kInserted);
  EXPECT_NE(table.find(Key16::of(1)), nullptr);
}

TEST(X25, sweeps_and_walks_keep_an_entry_whose_last_tick_is_now) {
  Table table = make(64);
  ASSERT_EQ(table.insert(Key16::of(1), 1, 3), InsertOutcome::kInserted);
  table.advance(Tick{3});
  table.maintain(table.bucket_count());
  EXPECT_EQ(table.size(), 1U);
  int visited = 0;
  table.for_each([&](const Key16&, uint64_t) { ++visited; });
  EXPECT_EQ(visited, 1);
  table.advance(Tick{4});
  table.maintain(table.bucket_count());
  EXPECT_EQ(table.size(), 0U);
}

// --- 16-bit timers wrap; only the scan keeps expired entries from coming back. ---

TEST(X26, a_skipped_scan_revives_expired_entries_and_advance_says_so) {
  Table table = make(64);
  ASSERT_EQ(table.insert(Key16::of(1), 1, 100), InsertOutcome::kInserted);
  EXPECT_EQ(table.advance(Tick{101}), AdvanceOutcome::kAdvanced);
  EXPECT_EQ(table.find(Key16::of(1)), nullptr);
  EXPECT_EQ(table.advance(Tick{64'512}), AdvanceOutcome::kAdvanced);
  EXPECT_EQ(table.find(Key16::of(1)), nullptr);
  EXPECT_EQ(table.advance(Tick{64'612}), AdvanceOutcome::kScanOverdue);
  EXPECT_EQ(table.find(Key16::of(1)), nullptr);
  EXPECT_EQ(table.advance(Tick{64'613}), AdvanceOutcome::kScanOverdue);
  EXPECT_NE(table.find(Key16::of(1)), nullptr)
      << "the trap itself: without a scan it is live again";
}

TEST(X26, a_scan_by_its_deadline_keeps_expired_entries_expired) {
  std::vector<uint64_t> expired;
  Table table = make(64, {&expired});
  ASSERT_EQ(table.insert(Key16::of(1), 1, 100), InsertOutcome::kInserted);
  ASSERT_EQ(table.scan_deadline(), Tick{64'512});
  for (const uint64_t now :
       {uint64_t{64'512}, uint64_t{64'613}, uint64_t{65'535}, uint64_t{65'636}}) {
    ASSERT_EQ(table.advance(Tick{now}), AdvanceOutcome::kAdvanced);
    while (table.scan_deadline() < Tick{now + kScanGapTicksMax}) table.maintain(1);
    EXPECT_EQ(table.find(Key16::of(1)), nullptr);
  }
  EXPECT_EQ(expired, std::vector<uint64_t>{1});
  EXPECT_EQ(table.size(), 0U);
}

TEST(X26, an_incremental_scan_that_meets_its_deadlines_revives_nothing_over_many_wraps) {
  std::vector<uint64_t> expired;
  Table table = make(4096, {&expired});
  uint64_t made = 0;
  for (uint64_t now = 0; now < 400'000; now += 97) {
    ASSERT_EQ(table.advance(Tick{now}), AdvanceOutcome::kAdvanced) << now;
    ASSERT_EQ(table.insert(Key16::of(made), now, 500), InsertOutcome::kInserted);
    ++made;
    // One pass takes 512 buckets / 2 * 97 ticks: it ends in time, but only just sooner than two
    // passes would have to.
    table.maintain(2);
    uint64_t live = 0;
    table.for_each([&](const Key16&, uint64_t made_at) {
      ++live;
      ASSERT_LE(now - made_at, 500U) << "an entry came back to life at " << now;
    });
    ASSERT_EQ(live, std::min<uint64_t>(made, 500 / 97 + 1)) << now;
  }
  table.advance(Tick{401'000});
  table.maintain(table.bucket_count());
  EXPECT_EQ(expired.size(), made);
}

TEST(X26, the_deadline_counts_from_the_start_of_the_pass_before) {
  Table table = make(64);
  ASSERT_EQ(table.insert(Key16::of(1), 1, 1023), InsertOutcome::kInserted);
  table.advance(Tick{1000});
  table.maintain(1);  // this bucket's next visit is due 64,512 ticks from here
  EXPECT_EQ(table.scan_deadline(), Tick{64'512});
  table.advance(Tick{60'000});
  table.maintain(table.bucket_count() - 1);
  EXPECT_EQ(table.scan_deadline(), Tick{1000 + 64'512});
}

TEST(X26, time_never_runs_backwards) {
  Table table = make(64);
  table.advance(Tick{10});
  EXPECT_EQ(table.advance(Tick{9}), AdvanceOutcome::kBackwards);
  EXPECT_EQ(table.now(), Tick{10});
}

// --- a refresh obeys the same limits, and is a write. ---

TEST(X33, a_refresh_is_clamped_like_an_insert_and_reaches_only_live_entries) {
  Table table = make(64);
  const std::vector<Key16> keys = {Key16::of(1), Key16::of(2), Key16::of(3)};
  for (const Key16& key : keys) ASSERT_EQ(table.insert(key, 1, 10), InsertOutcome::kInserted);
  table.advance(Tick{10});
  const std::vector<TickCount> timeouts = {0, 1, 100'000};
  std::vector<uint64_t> out(3);
  HitArray<3> hits;
  EXPECT_EQ(table.lookup_refresh(keys, Timeouts(std::span<const TickCount>(timeouts)), out, hits),
            3U);
  table.advance(Tick{11});
  EXPECT_EQ(table.find(keys[0]), nullptr);
  EXPECT_NE(table.find(keys[1]), nullptr);
  table.advance(Tick{10 + 1023});
  EXPECT_NE(table.find(keys[2]), nullptr);
  table.advance(Tick{10 + 1024});
  EXPECT_EQ(table.find(keys[2]), nullptr);
  EXPECT_EQ(table.lookup_refresh(keys, 100, out, hits), 0U)
      << "expired entries cannot be refreshed";
  EXPECT_EQ(table.find(keys[2]), nullptr);
}

}  // namespace
}  // namespace roost
