#include "roost/io/clock.h"

#include <rte_cycles.h>
#include <time.h>

#include <algorithm>

#include "roost/base/assert.h"

namespace roost::io {

namespace {

using Clock = std::chrono::steady_clock;

uint64_t cpu_microseconds_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<uint64_t>(time.tv_nsec) / 1'000;
}

}  // namespace

uint64_t read_cycles() { return rte_rdtsc(); }

uint64_t cycles_per_second() { return rte_get_tsc_hz(); }

TickClock::TickClock(double tick_seconds)
    : origin_{read_cycles(),
              std::max(uint64_t{1}, static_cast<uint64_t>(static_cast<double>(cycles_per_second()) *
                                                          tick_seconds))} {
  ROOST_ASSERT(tick_seconds > 0);
}

ThreadTime::ThreadTime()
    : start_(Clock::now()), start_cpu_microseconds_(cpu_microseconds_of_thread()) {}

uint64_t ThreadTime::run_microseconds() const {
  const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_);
  return static_cast<uint64_t>(passed.count());
}

uint64_t ThreadTime::cpu_microseconds() const {
  return cpu_microseconds_of_thread() - start_cpu_microseconds_;
}

SecondsTimer::SecondsTimer() : next_cycles_(read_cycles() + cycles_per_second()) {}

bool SecondsTimer::has_passed(uint64_t now) {
  if (now < next_cycles_) return false;
  next_cycles_ = now + cycles_per_second();
  return true;
}

}  // namespace roost::io
