// Millions of connections that two threads begin, refresh, end and let expire, in any of which any
// thread may be (T-13).
//
// Who works on a key claims it, so that what must come out is known exactly; whoever walks over the
// records to reclaim what has expired claims nothing, and meets those who refresh it at any moment.
// Each thread has a clock of its own, at most kSkewMax ticks ahead of the other's.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lab/lb/lcore_thread.h"
#include "lab/tests/shared_connections.h"
#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

// Sanitizers and unoptimised code take ten times as long.
#if defined(ROOST_SANITIZED) || !defined(NDEBUG)
constexpr uint64_t kConnections = 50'000;
#else
constexpr uint64_t kConnections = 10'000'000;
#endif
struct Sizes {
  uint32_t records;
  uint64_t flows;
  uint64_t steps_of_tick;
  uint64_t connections;  // to be begun
};
constexpr uint64_t kSkewMax = 3;  // ticks between two clocks
constexpr TickCount kTimeoutMin = 6;
constexpr uint64_t kStepsOfABatch = 32;
constexpr uint64_t kForEver = uint64_t{1} << 39;

// What is known of a key's connections, by who has claimed it.
struct Flow {
  std::atomic_flag claim;
  bool may_live = false;  // begun; not ended, nor seen over
  ConnectionId last{};
  ConnectionId earlier{};
  uint64_t due = 0;  // of the last one
  uint64_t begun = 0;
};

struct Shared {
  explicit Shared(const Sizes& of) : sizes(of), flows(of.flows), oracle(of.records, of.flows) {}

  Sizes sizes;
  std::vector<Flow> flows;
  std::array<std::atomic<uint64_t>, 2> clocks{};
  IndexOracle oracle;
  std::atomic<uint64_t> begun{0};
  std::atomic<bool> is_wrong{false};

  // Both threads stop together, because each waits for the other's quiescent states.
  [[nodiscard]] bool is_done() const {
    return begun.load(std::memory_order_relaxed) >= sizes.connections ||
           is_wrong.load(std::memory_order_relaxed);
  }
};

// One thread.
class Churner {
 public:
  Churner(SharedRecords& records, Shared& shared, size_t thread)
      : records_(records), shared_(shared), thread_(thread), draw_(thread + 1) {}

  void run() {
    const LcoreThread lcore;
    for (uint64_t step = 1; !shared_.is_done(); ++step) {
      take_step();
      records_.reclaim(next_scanned_, {now()});
      next_scanned_ = (next_scanned_ + 1) % shared_.sizes.records;
      if (step % kStepsOfABatch == 0) records_.quiescent();
      if (step % shared_.sizes.steps_of_tick == 0) tick();
    }
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] uint64_t early_ends() const { return early_ends_; }

 private:
  [[nodiscard]] std::atomic<uint64_t>& my_clock() { return shared_.clocks[thread_]; }
  [[nodiscard]] uint64_t now() { return my_clock().load(std::memory_order_relaxed); }
  void tick() {
    const std::atomic<uint64_t>& other = shared_.clocks[1 - thread_];
    while (now() >= other.load(std::memory_order_relaxed) + kSkewMax && !shared_.is_done())
      let_others_run();
    my_clock().store(now() + 1, std::memory_order_relaxed);
  }
  void let_others_run() {
    records_.quiescent();
    std::this_thread::yield();
  }
  [[nodiscard]] TickCount draw_timeout() {
    return kTimeoutMin + static_cast<TickCount>(draw_.below(8));
  }

  void take_step() {
    const uint64_t number = draw_.below(shared_.flows.size());
    Flow& flow = shared_.flows[number];
    if (flow.claim.test_and_set(std::memory_order_acquire)) return;
    if (!flow.may_live)
      begin(number, flow);
    else if (draw_.below(4) == 0)
      end(number, flow);
    else
      touch(number, flow);
    if (flow.begun > 1) {
      require(!records_.refresh(flow.earlier, {now()}, kTimeoutMin), "refreshed another's record");
      require(!records_.end(flow.earlier), "ended another's connection");
    }
    flow.claim.clear(std::memory_order_release);
  }

  // Nothing of the key lives.
  void begin(uint64_t number, Flow& flow) {
    const TickCount timeout = draw_timeout();
    const auto begun = records_.begin(key_of_number(number), {now()}, timeout);
    require(shared_.oracle.ended_of(number) == flow.begun, "what is over has not ended once");
    flow.may_live = false;
    if (begun.outcome == InsertOutcome::kFull) {
      let_others_run();
      return;
    }
    require(begun.outcome == InsertOutcome::kInserted, "what is over is still there");
    shared_.oracle.begun(number, begun.connection.index);
    shared_.begun.fetch_add(1, std::memory_order_relaxed);
    flow.earlier = flow.last;
    flow.last = begun.connection;
    flow.due = now() + timeout + 1;
    flow.may_live = true;
    ++flow.begun;
  }

  void touch(uint64_t number, Flow& flow) {
    const TickCount timeout = draw_timeout();
    const auto found = records_.touch(key_of_number(number), {now()}, timeout);
    if (found) {
      require(*found == flow.last, "found another connection");
      require(now() < flow.due, "found though it is over");
      flow.due = now() + timeout + 1;
    } else if (now() >= flow.due) {
      begin(number, flow);
    } else {
      note_early_end(flow);
    }
  }

  void end(uint64_t number, Flow& flow) {
    if (records_.end(flow.last)) {
      require(shared_.oracle.ended_of(number) == flow.begun, "its end was not told of once");
      flow.may_live = false;
    } else {
      note_early_end(flow);
    }
  }

  // By the other thread, whose clock is ahead, or by this one's walk.
  void note_early_end(Flow& flow) {
    require(now() + kSkewMax >= flow.due, "refreshed in time, and lost");
    flow.may_live = false;
    if (now() < flow.due) ++early_ends_;
  }

  void require(bool is_right, const char* what) {
    if (is_right || !wrong_.empty()) return;
    wrong_ = what;
    shared_.is_wrong.store(true, std::memory_order_relaxed);
  }

  SharedRecords& records_;
  Shared& shared_;
  size_t thread_;
  traffic::Draw draw_;
  uint32_t next_scanned_ = 0;
  uint64_t early_ends_ = 0;  // seen before their time by this thread's clock
  std::string wrong_;
};

// How many of these keys have a connection that has not ended.
uint64_t not_ended(SharedRecords& records, uint64_t keys) {
  uint64_t count = 0;
  for (uint64_t number = 0; number < keys; ++number)
    count += records.touch(key_of_number(number), Tick{0}, 1) ? 1U : 0U;
  return count;
}

uint64_t live_by_counts(const SharedRecords::Views& views) {
  uint64_t count = 0;
  for (const auto& one : views)
    count += one->counts().begun - one->counts().ended - one->counts().expired;
  return count;
}

// Ends what is live, and takes every index.
void expect_that_nothing_is_lost(SharedRecords::Views& views, const Shared& shared) {
  const uint32_t records = shared.sizes.records;
  const uint64_t flows = shared.sizes.flows;
  EXPECT_EQ(not_ended(*views[1], flows), live_by_counts(views));
  for (uint32_t index = 0; index < records; ++index) views[0]->reclaim(index, {kForEver});
  EXPECT_EQ(live_by_counts(views), 0U);
  EXPECT_EQ(not_ended(*views[1], flows), 0U);
  for (uint64_t number = 0; number < flows; ++number)
    ASSERT_EQ(shared.oracle.ended_of(number), shared.flows[number].begun) << number;

  for (const auto& one : views) one->quiescent();
  std::set<uint32_t> indices;
  for (uint32_t i = 0; i < records; ++i) {
    const auto begun = views[i % views.size()]->begin(key_of_number(flows + i), {1}, 1);
    ASSERT_EQ(begun.outcome, InsertOutcome::kInserted) << "after " << i;
    ASSERT_TRUE(indices.insert(begun.connection.index).second);
  }
  EXPECT_EQ(views[0]->begin(key_of_number(0), {1}, 1).outcome, InsertOutcome::kFull);
}

// Returns how many connections a thread has seen ended before their time by its own clock.
uint64_t churn(SharedRecords::Views& views, Shared& shared) {
  std::vector<Churner> churners;
  for (size_t thread = 0; thread < views.size(); ++thread)
    churners.emplace_back(*views[thread], shared, thread);
  {
    std::vector<std::jthread> threads;
    for (Churner& one : churners) threads.emplace_back([&one] { one.run(); });
  }
  uint64_t early_ends = 0;
  for (const Churner& one : churners) {
    EXPECT_EQ(one.wrong(), "");
    early_ends += one.early_ends();
  }
  EXPECT_FALSE(shared.oracle.is_wrong()) << "an index had two owners";
  return early_ends;
}

TEST_P(SharedConnections, end_once_each_and_leak_no_index) {
  Shared shared(
      {.records = 6'144, .flows = 8'192, .steps_of_tick = 1'024, .connections = kConnections});
  auto views = make(shared.sizes.records, shared.oracle);
  EXPECT_GT(churn(views, shared), 0U) << "the threads have met";
  expect_that_nothing_is_lost(views, shared);
}

// Most records are in use or in a grace period, so an index has its next owner at once, while a
// thread may be stopped that has just found it.
TEST_P(SharedConnections, end_once_each_where_records_are_few) {
  Shared shared({.records = 40, .flows = 256, .steps_of_tick = 32, .connections = 20'000});
  auto views = SharedRecords::create(pausing(make_table(shared.sizes.records)),
                                     shared.sizes.records, {}, {&shared.oracle})
                   .value();
  churn(views, shared);
  expect_that_nothing_is_lost(views, shared);
}

}  // namespace
}  // namespace roost::lab
