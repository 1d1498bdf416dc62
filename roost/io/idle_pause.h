// How a worker lets its core go while nothing comes (docs/decisions/0034-pauses.md): it polls for a
// while, then it sleeps, briefly at first, twice as long each time.
#pragma once

#include <cstdint>

namespace roost::io {

// One thread's; it stands where the thread runs.
class IdlePause {
 public:
  // `longest_microseconds`: 0 never sleeps. From here on the calling thread's sleeps end when they
  // are due; Linux adds 50 microseconds otherwise.
  explicit IdlePause(uint32_t longest_microseconds);

  // After every turn of the thread. Sleeps, or does not; returns whether it did.
  bool after_turn(bool found_work) {
    if (longest_microseconds_ == 0) return false;
    if (found_work) {
      is_idle_ = false;
      return false;
    }
    return after_idle_turn();
  }

 private:
  bool after_idle_turn();

  uint32_t longest_microseconds_;
  uint32_t next_microseconds_ = 0;
  uint64_t polls_until_cycles_ = 0;
  bool is_idle_ = false;  // it was after the turn before; the other two are of now
};

}  // namespace roost::io
