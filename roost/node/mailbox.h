// How control threads post requests to a worker: a request is run by the worker itself, between two
// batches, on its own memory, so that neither needs a lock and the request sees everything whole.
//
//   control thread                               worker
//   WorkerMailboxes::ask(requests, timeout)      each turn: Mailbox::serve()
//     posts to every worker, then waits            nothing there: three relaxed loads of one line
//                                                  else: one step() of the request
//   WorkerMailboxes::await_turns(timeout)          is answered by every turn, whatever waits
//
// A request does a bounded amount of work a step and goes on with the next turn; a walk over a
// table keeps its place in a cursor. Between two steps it can be withdrawn, and keeps what it has
// until then. Memory that a request needs is its own, allocated by the control thread before it
// posts and freed by it afterwards: step() runs on the datapath, where nothing allocates.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "roost/concurrent/heartbeat.h"
#include "roost/concurrent/ownership_word.h"

namespace roost::node {

// What a worker runs for a control thread.
class Request {
 public:
  Request() = default;
  Request(const Request&) = default;
  Request& operator=(const Request&) = default;
  virtual ~Request() = default;

  // A bounded piece of the work, on the worker's thread: no allocation, no system call. True when
  // nothing is left to do.
  virtual bool step() = 0;
};

// One worker's. It stands in a cache line of its own, because the worker looks at it every turn.
class alignas(64) Mailbox {
 public:
  // The worker, each turn: a step of the request that waits, and before that prepare(). Returns
  // whether one waits.
  template <class Prepare>
  bool serve(Prepare&& prepare) {
    heartbeat_.beat();
    if (!ownership_.is_offered()) return false;
    prepare();
    run_step();
    return true;
  }
  bool serve() {
    return serve([] {});
  }

  // The worker, when it ends: a thread that waits is released, and later requests get kClosed.
  void close() { ownership_.close(); }

 private:
  friend class WorkerMailboxes;

  void run_step() {
    if (!ownership_.take()) return;  // withdrawn just now
    if (request_->step()) {
      ownership_.finish();
    } else {
      ownership_.give_back();
    }
  }

  OwnershipWord ownership_;
  Heartbeat heartbeat_;
  Request* request_ = nullptr;
};
static_assert(sizeof(Mailbox) == 64, "a worker's mailbox shares its line with nothing");

enum class Answer : uint8_t {
  kDone,
  kTimedOut,  // withdrawn: the request has done some of its work, or none; or no turn was taken
  kClosed,    // the worker has ended, and the request has done some of its work, or none
  kNotAsked
};

// The mailboxes of all workers. Any number of threads may call ask(); the calls run in turn.
class WorkerMailboxes {
 public:
  explicit WorkerMailboxes(size_t worker_count) : mailboxes_(worker_count) {}

  [[nodiscard]] size_t worker_count() const { return mailboxes_.size(); }
  // For the worker; it stays where it is.
  [[nodiscard]] Mailbox& mailbox(size_t worker) { return mailboxes_[worker]; }

  // Has worker i run requests[i], where that is not null, all at the same time, and waits for them;
  // at most for `timeout` and one step of each. Afterwards the requests are the caller's again,
  // whatever the answers, one for each worker. Blocks: not for workers.
  [[nodiscard]] std::vector<Answer> ask(std::span<Request* const> requests,
                                        std::chrono::milliseconds timeout);

  // Whether each worker takes a turn from now on, at most `timeout` for all of them. It does not
  // wait behind what ask() has under way, which may be many requests of seconds each.
  [[nodiscard]] std::vector<Answer> await_turns(std::chrono::milliseconds timeout);

 private:
  std::mutex mutex_;  // one request a mailbox
  std::deque<Mailbox> mailboxes_;
};

}  // namespace roost::node
