#include "roost/io/idle_pause.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "roost/io/clock.h"

namespace roost::io {

namespace {

constexpr uint64_t kPollsMicroseconds = 50;  // in vain, before the first sleep
constexpr uint32_t kFirstMicroseconds = 10;
constexpr unsigned long kTimerSlackNanoseconds = 1'000;

}  // namespace

IdlePause::IdlePause(uint32_t longest_microseconds) : longest_microseconds_(longest_microseconds) {
  // Where this is refused, sleeps take longer.
  if (longest_microseconds != 0) prctl(PR_SET_TIMERSLACK, kTimerSlackNanoseconds, 0, 0, 0);
}

bool IdlePause::after_idle_turn() {
  const uint64_t now = read_cycles();
  if (!is_idle_) {
    is_idle_ = true;
    next_microseconds_ = std::min(kFirstMicroseconds, longest_microseconds_);
    polls_until_cycles_ = now + cycles_per_second() * kPollsMicroseconds / 1'000'000;
  }
  if (now < polls_until_cycles_) return false;
  std::this_thread::sleep_for(std::chrono::microseconds(next_microseconds_));
  next_microseconds_ = std::min(2 * next_microseconds_, longest_microseconds_);
  return true;
}

}  // namespace roost::io
