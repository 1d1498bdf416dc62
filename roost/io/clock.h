// Time on live ports: the processor's time-stamp counter, calibrated by DPDK.
//
// Replays do not use it: their time is the packets', see capture_merge.h. Only this file and the
// lab read the cycle counter. EAL must have started.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "roost/expiry/tick.h"

namespace roost::io {

// The cycle counter, and how often it counts.
[[nodiscard]] uint64_t read_cycles();
[[nodiscard]] uint64_t cycles_per_second();

// Times one stage after the other with one reading of the counter, which takes long, between two.
class LapTimer {
 public:
  void restart() { last_ = read_cycles(); }
  // Since the reading before, which this one follows.
  [[nodiscard]] uint64_t lap() {
    const uint64_t now = read_cycles();
    return now - std::exchange(last_, now);
  }
  [[nodiscard]] uint64_t last() const { return last_; }

 private:
  uint64_t last_ = 0;
};

// Ticks since the clock was made, here or in the process whose clock goes on. Any thread may read
// it.
class TickClock {
 public:
  // By the processors' cycle counter, which all processes share until the next boot.
  struct Origin {
    uint64_t start_cycles = 0;
    uint64_t tick_cycles = 1;
  };

  // The length of a tick must be positive; a tick is at least one cycle.
  explicit TickClock(double tick_seconds);
  // Goes on; `origin` is another clock's.
  explicit TickClock(const Origin& origin) : origin_(origin) {}

  [[nodiscard]] Tick now() const { return at(read_cycles()); }
  // When the cycle counter stood there.
  [[nodiscard]] Tick at(uint64_t cycles) const {
    return {(cycles - origin_.start_cycles) / origin_.tick_cycles};
  }
  [[nodiscard]] const Origin& origin() const { return origin_; }

 private:
  Origin origin_;
};

// What the calling thread has had since this was made.
class ThreadTime {
 public:
  ThreadTime();

  [[nodiscard]] uint64_t run_microseconds() const;  // by the wall clock
  [[nodiscard]] uint64_t cpu_microseconds() const;  // of a processor; a system call

 private:
  std::chrono::steady_clock::time_point start_;
  uint64_t start_cpu_microseconds_;
};

// Says about once a second that a second has passed.
class SecondsTimer {
 public:
  SecondsTimer();

  // True on the first call after each full second; seconds without a call are not made up for.
  // `now`: the cycle counter, read a moment ago.
  [[nodiscard]] bool has_passed(uint64_t now = read_cycles());

 private:
  uint64_t next_cycles_;
};

}  // namespace roost::io
