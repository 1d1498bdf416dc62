#include "roost/node/mailbox.h"

#include <thread>

#include "roost/base/assert.h"

namespace roost::node {

namespace {

using Clock = std::chrono::steady_clock;

// Workers make no system calls, so nothing wakes this thread: it polls. A worker's turn takes
// microseconds, so most answers are there at the first poll.
constexpr std::chrono::microseconds kLookEvery{50};

Answer wait_for(OwnershipWord& ownership, Clock::time_point deadline) {
  for (;;) {
    const bool is_closed = ownership.is_closed();
    const OwnershipWord::State state = ownership.look();
    if (state == OwnershipWord::State::kFinished) {
      ownership.collect();
      return Answer::kDone;
    }
    // One that was taken is soon given back or finished: a step is bounded.
    if ((is_closed || Clock::now() >= deadline) && ownership.withdraw()) {
      return is_closed ? Answer::kClosed : Answer::kTimedOut;
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

Answer wait_for_turn(const Heartbeat& heartbeat, uint32_t number, const OwnershipWord& ownership,
                     Clock::time_point deadline) {
  for (;;) {
    const bool is_closed = ownership.is_closed();
    if (heartbeat.is_answered(number)) return Answer::kDone;
    if (is_closed) return Answer::kClosed;
    if (Clock::now() >= deadline) return Answer::kTimedOut;
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace

std::vector<Answer> WorkerMailboxes::ask(std::span<Request* const> requests,
                                         std::chrono::milliseconds timeout) {
  ROOST_ASSERT(requests.size() == mailboxes_.size());
  std::vector<Answer> answers(requests.size(), Answer::kNotAsked);
  const std::scoped_lock lock(mutex_);
  const Clock::time_point deadline = Clock::now() + timeout;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == nullptr) continue;
    mailboxes_[i].request_ = requests[i];
    mailboxes_[i].ownership_.offer();
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] != nullptr) answers[i] = wait_for(mailboxes_[i].ownership_, deadline);
  }
  return answers;
}

std::vector<Answer> WorkerMailboxes::await_turns(std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  std::vector<uint32_t> numbers;
  for (Mailbox& mailbox : mailboxes_) numbers.push_back(mailbox.heartbeat_.request());
  std::vector<Answer> answers;
  for (size_t i = 0; i < mailboxes_.size(); ++i) {
    const Mailbox& mailbox = mailboxes_[i];
    answers.push_back(wait_for_turn(mailbox.heartbeat_, numbers[i], mailbox.ownership_, deadline));
  }
  return answers;
}

}  // namespace roost::node
