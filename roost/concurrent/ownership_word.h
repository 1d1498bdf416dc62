// One word by which a client hands a piece of memory to a server, and gets it back: the side
// that the word names may read and write it, the other not. The server never waits; what it pays
// when there is nothing to do is one relaxed load.
//
//              offer()               take()
//     kIdle  ------------> kOffered ------------> kTaken
//       ^    <------------    ^    <------------    |
//       |      withdraw()            give_back()    | finish()
//       '------------------ kFinished <-------------'
//            collect()
//
// A server that ends says so beside the word: then the client withdraws what is offered.
//
// H1 kIdle and kFinished: the memory is the client's. kTaken: it is the server's. kOffered:
//    no side's, until take() or withdraw(), of which only one can succeed.
// H2 Each change of hands is a release by the one and an acquire by the other, so that what the one
//    wrote is what the other reads.
#pragma once

#include <atomic>
#include <cstdint>

#include "roost/base/assert.h"

namespace roost {

// One server thread, and one client thread at a time.
class OwnershipWord {
 public:
  enum class State : uint8_t { kIdle, kOffered, kTaken, kFinished };

  // --- The client's. ---

  // The word must be idle.
  void offer() {
    ROOST_DEBUG_ASSERT(state_.load(std::memory_order_relaxed) == State::kIdle);
    state_.store(State::kOffered, std::memory_order_release);  // pairs with take()
  }

  // Which side has the memory. After kFinished what the server wrote may be read.
  [[nodiscard]] State look() const {
    return state_.load(std::memory_order_acquire);  // pairs with finish()
  }

  // Whether the server has ended: what is offered is not taken any more.
  [[nodiscard]] bool is_closed() const { return is_closed_.load(std::memory_order_relaxed); }

  // Takes the memory back that the server has not taken, or has given back; false when it has it,
  // or is done with it. What the server wrote may be read then.
  [[nodiscard]] bool withdraw() {
    State state = State::kOffered;
    // Pairs with the release in give_back().
    return state_.compare_exchange_strong(state, State::kIdle, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // After kFinished: the word is idle.
  void collect() { state_.store(State::kIdle, std::memory_order_relaxed); }

  // --- The server's. ---

  // Whether take() is worth a try.
  [[nodiscard]] bool is_offered() const {
    return state_.load(std::memory_order_relaxed) == State::kOffered;
  }

  // True when the memory is the server's now.
  [[nodiscard]] bool take() {
    State state = State::kOffered;
    // Pairs with the release in offer(), and with the server's own in give_back().
    return state_.compare_exchange_strong(state, State::kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  // What was taken is offered again: the client may withdraw it, or the server take it once more.
  void give_back() { state_.store(State::kOffered, std::memory_order_release); }

  // What was taken is the client's again.
  void finish() { state_.store(State::kFinished, std::memory_order_release); }

  // The server takes nothing from now on. Not between take() and give_back() or finish().
  void close() { is_closed_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<State> state_ = State::kIdle;
  std::atomic<bool> is_closed_ = false;  // orders nothing: withdraw() does
};

}  // namespace roost
