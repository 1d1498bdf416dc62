// The mailbox: what a request sees and changes is exact, however often it is withdrawn, and a
// worker that has ended keeps no thread waiting. Under the thread sanitizer the stress test also
// says that nothing is touched by two threads at once.
#include "roost/node/mailbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

namespace roost::node {
namespace {

using std::chrono::milliseconds;

// A worker's memory: plain, as a worker's tables are.
struct Ledger {
  uint64_t total = 0;
  uint64_t step_count = 0;
};

// Adds to the ledger, a little every step, and remembers how much.
struct Deposit final : Request {
  Ledger* ledger = nullptr;
  uint64_t steps_left = 0;
  uint64_t amount = 0;  // a step
  uint64_t deposited = 0;
  uint64_t total_seen = 0;
  bool is_withdrawn = false;

  bool step() override {
    EXPECT_FALSE(is_withdrawn);
    if (steps_left == 0) return true;
    ledger->total += amount;
    ++ledger->step_count;
    deposited += amount;
    total_seen = ledger->total;
    return --steps_left == 0;
  }
};

// Workers that do nothing but serve, until they are told to end.
class Workers {
 public:
  explicit Workers(size_t count) : mailboxes(count), ledgers(count) {
    for (size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        while (!is_over_.load(std::memory_order_relaxed)) mailboxes.mailbox(i).serve();
        mailboxes.mailbox(i).close();
      });
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { end(); }
  void end() {
    is_over_.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  WorkerMailboxes mailboxes;
  std::vector<Ledger> ledgers;

 private:
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> threads_;
};

TEST(mailbox, a_request_runs_step_by_step_to_its_end) {
  WorkerMailboxes mailboxes(1);
  Ledger ledger;
  Deposit deposit;
  deposit.ledger = &ledger;
  deposit.steps_left = 3;
  deposit.amount = 5;
  std::thread asker([&] {
    Request* const request = &deposit;
    EXPECT_EQ(mailboxes.ask(std::span(&request, 1), milliseconds(10'000)),
              std::vector<Answer>{Answer::kDone});
  });
  while (ledger.step_count < 3) mailboxes.mailbox(0).serve();
  asker.join();
  EXPECT_EQ(deposit.deposited, 15U);
  mailboxes.mailbox(0).serve();
  EXPECT_EQ(ledger.total, 15U) << "it is run once";
}

TEST(mailbox, nobody_serves_and_the_request_is_withdrawn) {
  WorkerMailboxes mailboxes(2);
  Ledger ledger;
  Deposit deposit;
  deposit.ledger = &ledger;
  deposit.steps_left = 1;
  deposit.amount = 1;
  Request* const requests[] = {nullptr, &deposit};
  EXPECT_EQ(mailboxes.ask(requests, milliseconds(5)),
            (std::vector<Answer>{Answer::kNotAsked, Answer::kTimedOut}));
  mailboxes.mailbox(1).serve();
  EXPECT_EQ(ledger.total, 0U) << "what was withdrawn does not run";
}

TEST(mailbox, a_turn_is_seen_of_who_takes_one_and_of_nobody_else) {
  WorkerMailboxes mailboxes(3);
  mailboxes.mailbox(2).close();
  std::atomic<bool> is_over = false;
  std::thread first([&] {
    while (!is_over.load()) mailboxes.mailbox(0).serve();
  });
  const std::vector<Answer> expected = {Answer::kDone, Answer::kTimedOut, Answer::kClosed};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mailboxes.await_turns(milliseconds(50)), expected);
  is_over.store(true);
  first.join();
  EXPECT_EQ(mailboxes.await_turns(milliseconds(5))[0], Answer::kTimedOut)
      << "an old turn is no answer";
}

TEST(mailbox, an_ended_worker_answers_at_once) {
  Workers workers(2);
  workers.end();
  Deposit deposits[2];
  Request* const requests[] = {&deposits[0], &deposits[1]};
  EXPECT_EQ(workers.mailboxes.ask(requests, milliseconds(60'000)),
            (std::vector<Answer>{Answer::kClosed, Answer::kClosed}));
}

TEST(mailbox, a_worker_that_ends_lets_go_of_who_waits) {
  WorkerMailboxes mailboxes(1);
  Ledger ledger;
  Deposit deposit;
  deposit.ledger = &ledger;
  deposit.steps_left = UINT64_MAX;
  std::thread worker([&] {
    while (ledger.step_count < 10) mailboxes.mailbox(0).serve();
    mailboxes.mailbox(0).close();
  });
  Request* const request = &deposit;
  EXPECT_EQ(mailboxes.ask(std::span(&request, 1), milliseconds(60'000)),
            std::vector<Answer>{Answer::kClosed});
  worker.join();
}

TEST(mailbox, what_was_done_before_the_worker_ended_is_done) {
  for (int i = 0; i < 100; ++i) {
    WorkerMailboxes mailboxes(1);
    Ledger ledger;
    Deposit deposit;
    deposit.ledger = &ledger;
    deposit.steps_left = 1;
    std::thread worker([&] {
      while (ledger.step_count == 0) mailboxes.mailbox(0).serve();
      mailboxes.mailbox(0).close();
    });
    Request* const request = &deposit;
    EXPECT_EQ(mailboxes.ask(std::span(&request, 1), milliseconds(60'000)),
              std::vector<Answer>{Answer::kDone});
    worker.join();
  }
}

// What the askers believe was deposited is what the ledgers hold, to the unit: each step of each
// request ran once, also of those that were withdrawn half-way.
TEST(mailbox, every_step_is_counted_whoever_gives_up) {
  constexpr size_t kWorkers = 2;
  constexpr size_t kAskers = 3;
  constexpr int kRounds = 100;
  Workers workers(kWorkers);
  std::array<std::array<uint64_t, kWorkers>, kAskers> deposited{};
  std::array<uint64_t, kAskers> withdrawn{};
  std::array<uint64_t, kAskers> done{};
  std::vector<std::thread> askers;
  for (size_t asker = 0; asker < kAskers; ++asker) {
    askers.emplace_back([&, asker] {
      std::mt19937_64 random(asker);
      for (int round = 0; round < kRounds; ++round) {
        std::array<Deposit, kWorkers> deposits;
        std::array<Request*, kWorkers> requests{};
        const bool is_endless = random() % 8 == 0;  // ends by being withdrawn
        for (size_t i = 0; i < kWorkers; ++i) {
          if (random() % 4 == 0) continue;
          deposits[i].ledger = &workers.ledgers[i];
          deposits[i].steps_left = is_endless ? UINT64_MAX : random() % 50;
          deposits[i].amount = random() % 1'000;
          requests[i] = &deposits[i];
        }
        const auto answers = workers.mailboxes.ask(requests, milliseconds(is_endless ? 1 : 10'000));
        for (size_t i = 0; i < kWorkers; ++i) {
          deposited[asker][i] += deposits[i].deposited;
          deposits[i].is_withdrawn = true;
          EXPECT_EQ(answers[i] == Answer::kNotAsked, requests[i] == nullptr);
          if (answers[i] == Answer::kTimedOut) ++withdrawn[asker];
          if (answers[i] != Answer::kDone) continue;
          ++done[asker];
          EXPECT_EQ(deposits[i].steps_left, 0U);
        }
      }
    });
  }
  for (std::thread& asker : askers) asker.join();
  workers.end();
  for (size_t i = 0; i < kWorkers; ++i) {
    uint64_t believed = 0;
    for (size_t asker = 0; asker < kAskers; ++asker) believed += deposited[asker][i];
    EXPECT_EQ(workers.ledgers[i].total, believed) << "worker " << i;
    EXPECT_GT(workers.ledgers[i].step_count, 0U);
  }
  for (size_t asker = 0; asker < kAskers; ++asker) {
    EXPECT_GT(withdrawn[asker], 0U);
    EXPECT_GT(done[asker], 0U);
  }
}

}  // namespace
}  // namespace roost::node
