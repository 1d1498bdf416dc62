// Connections that threads share: each step alone, with the threads' parts in turn; then two
// threads that meet in every key.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lab/lb/lcore_thread.h"
#include "lab/tests/eal_main.h"
#include "lab/tests/shared_connections.h"

namespace roost::lab {
namespace {

constexpr uint64_t kRounds = 500;
constexpr TickCount kTimeout = 4;
constexpr size_t kKeys = 32;  // that threads meet in

INSTANTIATE_TEST_SUITE_P(Tables, SharedConnections,
                         testing::Values("roost shared", "rte_hash LF", "chained_map mutex"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

//
TEST_P(SharedConnections, give_an_index_on_after_a_grace_period) {
  IndexOracle oracle(1, 4);
  auto views = make(1, oracle);
  SharedRecords& one = *views[0];
  SharedRecords& other = *views[1];
  const auto first = one.begin(key_of_number(0), {1}, kTimeout);
  ASSERT_EQ(first.outcome, InsertOutcome::kInserted);
  oracle.begun(0, first.connection.index);
  EXPECT_TRUE(other.end(first.connection));
  EXPECT_FALSE(one.end(first.connection));
  EXPECT_EQ(one.begin(key_of_number(1), {1}, kTimeout).outcome, InsertOutcome::kFull);
  one.quiescent();
  EXPECT_EQ(one.begin(key_of_number(1), {1}, kTimeout).outcome, InsertOutcome::kFull);
  other.quiescent();
  const auto second = one.begin(key_of_number(1), {1}, kTimeout);
  ASSERT_EQ(second.outcome, InsertOutcome::kInserted);
  oracle.begun(1, second.connection.index);
  EXPECT_EQ(second.connection.index, first.connection.index);

  // C4: what was kept of the first one is not the second.
  EXPECT_FALSE(other.refresh(first.connection, {1}, kTimeout));
  EXPECT_FALSE(other.end(first.connection));
  EXPECT_TRUE(other.refresh(second.connection, {1}, kTimeout));

  EXPECT_TRUE(one.end(second.connection));
  one.quiescent();
  EXPECT_EQ(one.begin(key_of_number(2), {1}, kTimeout).outcome, InsertOutcome::kFull);
  views[1].reset();
  EXPECT_EQ(one.begin(key_of_number(2), {1}, kTimeout).outcome, InsertOutcome::kInserted)
      << "nobody waits for a thread that has left";
  EXPECT_FALSE(oracle.is_wrong());
}

TEST_P(SharedConnections, live_through_their_last_tick_and_are_reclaimed_once) {
  IndexOracle oracle(4, 4);
  auto views = make(4, oracle);
  SharedRecords& one = *views[0];
  SharedRecords& other = *views[1];
  const auto first = one.begin(key_of_number(0), {10}, kTimeout).connection;
  oracle.begun(0, first.index);
  EXPECT_FALSE(other.reclaim(first.index, {14}));
  EXPECT_EQ(other.touch(key_of_number(0), {14}, kTimeout), first);
  EXPECT_FALSE(one.reclaim(first.index, {18}));
  EXPECT_FALSE(one.touch(key_of_number(0), {19}, kTimeout)) << "over";
  EXPECT_FALSE(one.refresh(first, {19}, kTimeout));
  EXPECT_EQ(oracle.ended_of(0), 0U) << "but not reclaimed";
  EXPECT_TRUE(one.reclaim(first.index, {19}));
  EXPECT_FALSE(other.reclaim(first.index, {19}));
  EXPECT_EQ(oracle.ended_of(0), 1U);

  // One that has expired is reclaimed by who begins its key; one that lives is found by them.
  const auto second = one.begin(key_of_number(1), {20}, kTimeout).connection;
  oracle.begun(1, second.index);
  const auto third = other.begin(key_of_number(1), {25}, kTimeout);
  EXPECT_EQ(third.outcome, InsertOutcome::kInserted);
  oracle.begun(1, third.connection.index);
  EXPECT_EQ(oracle.ended_of(1), 1U);
  const auto again = one.begin(key_of_number(1), {26}, kTimeout);
  EXPECT_EQ(again.outcome, InsertOutcome::kUpdated);
  EXPECT_EQ(again.connection, third.connection);

  // A batch: keys 0 to 3, of which 1 is live.
  std::array<net::FlowKey4, 4> keys;
  std::array<const net::FlowKey4*, 4> pointers;
  for (size_t lane = 0; lane < keys.size(); ++lane) {
    keys[lane] = key_of_number(lane);
    pointers[lane] = &keys[lane];
  }
  std::array<ConnectionId, 4> found;
  HitArray<4> hits;
  EXPECT_EQ(one.touch(pointers, {30}, kTimeout, found, hits), 1U);
  EXPECT_TRUE(hits.test(1));
  EXPECT_EQ(found[1], third.connection);
  EXPECT_FALSE(oracle.is_wrong());
}

// A table that refuses what it is told to.
class RefusingTable final : public SmallValues<net::FlowKey4> {
 public:
  explicit RefusingTable(const bool& is_full) : is_full_(is_full) {}
  size_t lookup(KeyPointers<net::FlowKey4> keys, std::span<uint32_t> /*out*/,
                HitWords hits) override {
    hits.clear(keys.size());
    return 0;
  }
  bool insert(const net::FlowKey4& /*key*/, uint32_t /*value*/) override { return !is_full_; }
  bool erase(const net::FlowKey4& /*key*/) override { return true; }
  [[nodiscard]] uint64_t size() const override { return 0; }
  [[nodiscard]] uint64_t memory_bytes() const override { return 0; }

 private:
  const bool& is_full_;
};

TEST(SharedRecordsTest, keep_the_index_that_a_full_table_refused) {
  bool is_full = true;
  IndexOracle oracle(1, 1);
  std::vector<std::unique_ptr<SmallValues<net::FlowKey4>>> table;
  table.push_back(std::make_unique<RefusingTable>(is_full));
  auto views = SharedRecords::create(std::move(table), 1, {}, {&oracle}).value();
  EXPECT_EQ(views[0]->begin(key_of_number(0), {1}, kTimeout).outcome, InsertOutcome::kFull);
  EXPECT_EQ(views[0]->begin(key_of_number(0), {1}, kTimeout).outcome, InsertOutcome::kFull);
  is_full = false;
  EXPECT_EQ(views[0]->begin(key_of_number(0), {1}, kTimeout).outcome, InsertOutcome::kInserted);
  EXPECT_EQ(views[0]->counts().begun, 1U);
}

// A thread is stopped after it has seen a life, too.
struct PausingWords : AtomicWords {
  [[nodiscard]] static uint64_t load(const uint64_t* word) {
    const uint64_t seen = AtomicWords::load(word);
    pause_now_and_then();
    return seen;
  }
};
using PausingRecords = CommonRecords<net::FlowKey4, TellOracle, PausingWords>;

// Two threads meet in every key: both begin it; one refreshes it in its last tick while the other
// is a tick ahead and reclaims it; both end what is left (X-88, CT-05).
class Meeting {
 public:
  Meeting(PausingRecords::Views& views, IndexOracle& oracle) : views_(views), oracle_(oracle) {}

  void run() {
    std::vector<std::jthread> threads;
    for (size_t thread = 0; thread < views_.size(); ++thread)
      threads.emplace_back([this, thread] { run(thread); });
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] uint64_t reclaimed() const { return reclaimed_count_; }

 private:
  void run(size_t thread) {
    const LcoreThread lcore;
    PausingRecords& records = *views_[thread];
    for (uint64_t round = 0; round < kRounds; ++round) {
      const uint64_t begin = 20 * round;
      for (size_t i = 0; i < kKeys; ++i) {
        begun_[thread][i] = records.begin(key_of_number(i), {begin}, kTimeout);
        if (begun_[thread][i].outcome == InsertOutcome::kInserted)
          oracle_.begun(i, begun_[thread][i].connection.index);
      }
      barrier_.arrive_and_wait();
      const bool refreshes = (thread + round) % 2 == 0;
      for (size_t i = 0; i < kKeys; ++i) {
        if (refreshes)
          refreshed_[i] = records.touch(key_of_number(i), {begin + kTimeout}, kTimeout).has_value();
        else
          reclaimed_[i] =
              records.reclaim(begun_[thread][i].connection.index, {begin + kTimeout + 1});
      }
      barrier_.arrive_and_wait();
      for (size_t i = 0; i < kKeys; ++i)
        ended_[thread][i] = records.end(begun_[thread][i].connection);
      records.quiescent();
      barrier_.arrive_and_wait();
      if (thread == 0) check(round);
      barrier_.arrive_and_wait();
      if (!wrong_.empty()) return;
    }
  }

  void check(uint64_t round) {
    for (size_t i = 0; i < kKeys; ++i) {
      const auto& [one, other] = std::pair(begun_[0][i], begun_[1][i]);
      require(one.connection == other.connection, "one key, two connections");
      require(
          (one.outcome == InsertOutcome::kInserted && other.outcome == InsertOutcome::kUpdated) ||
              (one.outcome == InsertOutcome::kUpdated && other.outcome == InsertOutcome::kInserted),
          "not begun by one of two threads");
      require(refreshed_[i] != reclaimed_[i], "refreshed and reclaimed, or neither");
      require(ended_[0][i] + ended_[1][i] == (refreshed_[i] ? 1 : 0), "not ended once");
      require(oracle_.ended_of(i) == round + 1, "its end was not told of once");
      require(!views_[0]->touch(key_of_number(i), Tick{0}, kTimeout), "it is left in the table");
      reclaimed_count_ += reclaimed_[i] ? 1U : 0U;
    }
    require(!oracle_.is_wrong(), "an index has two owners");
  }
  void require(bool is_right, const char* what) {
    if (!is_right && wrong_.empty()) wrong_ = what;
  }

  PausingRecords::Views& views_;
  IndexOracle& oracle_;
  std::barrier<> barrier_{2};
  std::array<std::array<PausingRecords::Begun, kKeys>, 2> begun_{};
  std::array<bool, kKeys> refreshed_{};
  std::array<bool, kKeys> reclaimed_{};
  std::array<std::array<int, kKeys>, 2> ended_{};
  uint64_t reclaimed_count_ = 0;
  std::string wrong_;
};

TEST_P(SharedConnections, are_what_two_threads_agree_on) {
  IndexOracle oracle(256, kKeys);
  auto views = PausingRecords::create(pausing(make_table(256)), 256, {}, {&oracle}).value();
  Meeting meeting(views, oracle);
  meeting.run();
  EXPECT_EQ(meeting.wrong(), "");
  EXPECT_GT(meeting.reclaimed(), 0U);
  EXPECT_LT(meeting.reclaimed(), kRounds * kKeys);
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) {
  return roost::lab::run_tests_with_eal(argc, argv, uint64_t{256} << 20);
}
