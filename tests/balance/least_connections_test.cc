// Least connections: the choice of one worker, and what several that share nothing come to.
#include "roost/balance/least_connections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "tests/balance/picks.h"

namespace roost::balance {
namespace {

using Counts = std::vector<uint64_t>;

std::optional<size_t> pick(const LeastConnections& least, uint64_t hash, const Counts& counts) {
  return least.pick(hash, [&](size_t backend) { return counts[backend]; });
}

TEST(LeastConnections, takes_the_least_count_for_its_weight) {
  const std::vector<WeightedBackend> backends = {{"a", 1}, {"b", 3}, {"c", 0}, {"d", 1}};
  const LeastConnections least = make<LeastConnections>(backends);
  EXPECT_EQ(pick(least, 1, {5, 9, 0, 4}), 1u);   // 10 / 3 is less than 5
  EXPECT_EQ(pick(least, 1, {5, 15, 0, 4}), 3u);  // 16 / 3 is more
  EXPECT_EQ(pick(least, 1, {0, 0, 0, 0}), 1u);   // a third of a connection
  EXPECT_EQ(pick(least, 1, {4'294'967'294, 4'294'967'295, 0, 4'294'967'295}), 1u);
}

TEST(LeastConnections, ties_go_by_the_flow_and_the_names_and_not_by_the_list) {
  std::vector<WeightedBackend> backends = equal_backends(8);
  Counts taken(8);
  std::vector<std::string> names;
  for (size_t flow = 0; flow < 8'000; ++flow) {
    const auto picked = pick(make<LeastConnections>(backends), flow_hash(flow), Counts(8, 3));
    ++taken[picked.value()];
    names.push_back(backends[*picked].name);
  }
  for (const uint64_t count : taken) EXPECT_NEAR(static_cast<double>(count), 1'000, 160);
  std::ranges::reverse(backends);
  const LeastConnections reversed = make<LeastConnections>(backends);
  for (size_t flow = 0; flow < names.size(); ++flow) {
    EXPECT_EQ(backends[pick(reversed, flow_hash(flow), Counts(8, 3)).value()].name, names[flow]);
  }
}

TEST(LeastConnections, no_backend_with_a_weight_is_no_answer_and_twins_are_refused) {
  EXPECT_EQ(pick(make<LeastConnections>({}), 1, {}), std::nullopt);
  const std::vector<WeightedBackend> drained = {{"a", 0}};
  EXPECT_EQ(pick(make<LeastConnections>(drained), 1, {0}), std::nullopt);
  const std::vector<WeightedBackend> twins = {{"a", 1}, {"a", 1}};
  EXPECT_FALSE(LeastConnections::create({.backends = twins}));
  EXPECT_FALSE(make<LeastConnections>(drained).next(twins));
}

// Workers that share nothing, and all their connections.
class Workers {
 public:
  Workers(size_t worker_count, std::vector<WeightedBackend> backends)
      : backends_(std::move(backends)),
        least_(make<LeastConnections>(backends_)),
        counts_(worker_count, Counts(backends_.size())),
        ended_(worker_count, std::vector<Counts>(backends_.size(), Counts(backends_.size()))) {}

  void begin(size_t worker, uint64_t hash) {
    const size_t backend = pick(least_, hash, counts_[worker]).value();
    ++counts_[worker][backend];
    std::ranges::fill(ended_[worker][backend], 0);
    live_.emplace_back(worker, backend);
  }
  void end(size_t which) {
    const auto [worker, backend] = live_[which];
    live_[which] = live_.back();
    live_.pop_back();
    --counts_[worker][backend];
    for (Counts& since_choice_of : ended_[worker]) ++since_choice_of[backend];
  }
  [[nodiscard]] size_t live() const { return live_.size(); }
  [[nodiscard]] Counts sums() const {
    Counts sums(backends_.size());
    for (const Counts& counts : counts_) {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
    }
    return sums;
  }
  // I2 of least_connections.h, and so I1 while nothing has ended.
  void expect_bound() const {
    const Counts sum = sums();
    for (size_t i = 0; i < sum.size(); ++i) {
      for (size_t j = 0; j < sum.size(); ++j) {
        if (backends_[j].weight == 0) continue;
        uint64_t room = counts_.size();
        for (const std::vector<Counts>& of_worker : ended_) room += of_worker[i][j];
        ASSERT_LE(sum[i] * backends_[j].weight, (sum[j] + room) * backends_[i].weight)
            << i << " and " << j;
      }
    }
  }

 private:
  std::vector<WeightedBackend> backends_;
  LeastConnections least_;
  std::vector<Counts> counts_;              // by worker
  std::vector<std::vector<Counts>> ended_;  // by worker: of j since i was chosen
  std::vector<std::pair<size_t, size_t>> live_;
};

uint64_t spread(const Counts& sums) { return std::ranges::max(sums) - std::ranges::min(sums); }

TEST(LeastConnections, workers_that_share_nothing_differ_by_their_number_at_most) {
  std::mt19937_64 random(1);
  for (const size_t worker_count : {1U, 2U, 8U}) {
    Workers workers(worker_count, equal_backends(9));
    uint64_t worst = 0;
    for (size_t flow = 0; flow < 5'000; ++flow) {
      // Half of the flows are the first worker's: the bound does not ask how they are spread.
      workers.begin(random() % 2 == 0 ? 0 : random() % worker_count, random());
      worst = std::max(worst, spread(workers.sums()));
    }
    EXPECT_LE(worst, worker_count);
    std::printf("%zu workers: the sums differed by %llu at most\n", worker_count,
                static_cast<unsigned long long>(worst));
  }
}

TEST(LeastConnections, weights_and_ends_move_the_bound_by_what_ended) {
  std::mt19937_64 random(2);
  std::vector<WeightedBackend> backends = equal_backends(6);
  for (size_t i = 0; i < backends.size(); ++i) backends[i].weight = static_cast<uint32_t>(i);
  Workers workers(4, backends);
  for (size_t step = 0; step < 20'000; ++step) {
    // Up to about a thousand at a time.
    if (workers.live() == 0 || random() % 1'000 >= workers.live()) {
      workers.begin(random() % 4, random());
    } else {
      workers.end(random() % workers.live());
    }
    workers.expect_bound();
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(workers.sums()[0], 0u);
}

// What was decided against: one sum, published once a tick, that every worker goes by.
TEST(LeastConnections, counts_that_are_published_now_and_then_send_a_tick_to_one_backend) {
  constexpr size_t kFlowsOfTick = 100;
  std::mt19937_64 random(3);
  const LeastConnections least = make<LeastConnections>(equal_backends(9));
  Counts sums(9);
  Counts published(9);
  Workers workers(4, equal_backends(9));
  uint64_t worst = 0;
  for (size_t flow = 0; flow < 5'000; ++flow) {
    if (flow % kFlowsOfTick == 0) published = sums;
    ++sums[pick(least, random(), published).value()];
    worst = std::max(worst, spread(sums));
    workers.begin(random() % 4, random());
  }
  EXPECT_GT(worst, kFlowsOfTick * 9 / 10);
  EXPECT_LE(spread(workers.sums()), 4u);
}

}  // namespace
}  // namespace roost::balance
