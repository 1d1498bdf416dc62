// The timer wheel against a list of due ticks (T-11): whatever is armed, moved and taken out, and
// however time goes, a timer is over at its tick, not before and not after.
#include "roost/expiry/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "tests/base/step_count.h"

namespace roost {
namespace {

constexpr uint64_t kAll = UINT64_MAX;

TimerWheel wheel_of(uint64_t timers, Tick now = {}) {
  return TimerWheel::create({.timers = timers, .now = now}).value();
}

// Connections as a table keeps them: when each is due now, whatever the wheel was told.
class DueTimers {
 public:
  DueTimers(uint64_t timers, Tick now) : wheel_(wheel_of(timers, now)), due_(timers), now_(now) {}

  [[nodiscard]] TimerWheel& wheel() { return wheel_; }
  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] bool is_live(uint32_t timer) const { return due_[timer].has_value(); }
  [[nodiscard]] uint64_t asked() const { return asked_; }

  void begin(uint32_t timer, Tick due) {
    due_[timer] = due;
    wheel_.arm(timer, due);
  }
  // Used: it is due later, and the wheel is not told.
  void use(uint32_t timer, Tick due) { due_[timer] = due; }
  void end(uint32_t timer) {
    due_[timer].reset();
    wheel_.disarm(timer);
  }

  uint64_t advance(Tick now, uint64_t budget = kAll) {
    now_ = now;
    return wheel_.advance(
        now, budget, [](uint32_t) {},
        [&](uint32_t timer) -> std::optional<Tick> {
          ++asked_;
          EXPECT_TRUE(due_[timer].has_value()) << "timer " << timer << " is over";
          if (*due_[timer] > now) return due_[timer];
          due_[timer].reset();
          return {};
        });
  }

  // Nothing is live that was due, and all that is live is armed.
  void check() {
    ASSERT_TRUE(wheel_.audit());
    uint64_t live = 0;
    for (uint32_t timer = 0; timer < due_.size(); ++timer) {
      if (due_[timer]) {
        ++live;
        ASSERT_GT(*due_[timer], now_) << "timer " << timer;
      }
      ASSERT_EQ(wheel_.is_armed(timer), due_[timer].has_value()) << "timer " << timer;
    }
    ASSERT_EQ(wheel_.armed_count(), live);
  }

 private:
  TimerWheel wheel_;
  std::vector<std::optional<Tick>> due_;
  Tick now_;
  uint64_t asked_ = 0;
};

TEST(TimerWheel, a_timer_is_over_at_its_tick) {
  constexpr uint64_t kEnd = uint64_t{1} << 24;  // where the last level ends
  for (const uint64_t begin : {0U, 1U, 63U, 4'095U, 262'143U, 5'000'000U}) {
    for (const uint64_t ahead :
         {uint64_t{1}, uint64_t{63}, uint64_t{64}, uint64_t{65}, uint64_t{4'095}, uint64_t{4'096},
          uint64_t{262'144}, kEnd - 1, kEnd, 3 * kEnd + 5}) {
      SCOPED_TRACE(std::to_string(begin) + " and " + std::to_string(ahead));
      DueTimers timers(1, {begin});
      timers.begin(0, {begin + ahead});
      timers.advance({begin + ahead - 1});
      EXPECT_TRUE(timers.is_live(0));
      timers.advance({begin + ahead});
      EXPECT_FALSE(timers.is_live(0));
      EXPECT_LE(timers.asked(), 8U) << "once a level, and once for each round of the last";
    }
  }
}

TEST(TimerWheel, what_is_past_comes_due_at_once) {
  DueTimers timers(2, {100});
  timers.advance({200});
  timers.begin(0, {150});
  timers.begin(1, {201});
  EXPECT_EQ(timers.advance({200}), 1U);
  EXPECT_FALSE(timers.is_live(0));
  EXPECT_TRUE(timers.is_live(1));
}

// The next connection of the same number has nothing to do with the timer of the one before.
TEST(TimerWheel, a_number_that_is_used_again_begins_anew) {
  DueTimers timers(1, {0});
  timers.begin(0, {50});
  timers.end(0);
  EXPECT_EQ(timers.advance({10}), 0U);
  timers.begin(0, {900});
  EXPECT_EQ(timers.advance({60}), 0U) << "the timer of the first one is gone";
  timers.end(0);
  timers.begin(0, {70});
  timers.advance({70});
  EXPECT_FALSE(timers.is_live(0)) << "not at the tick of the second one";
}

TEST(TimerWheel, use_postpones) {
  DueTimers timers(1, {0});
  timers.begin(0, {60});
  for (uint64_t now = 1; now < 10'000; ++now) {
    timers.use(0, {now + 60});
    timers.advance({now});
    ASSERT_TRUE(timers.is_live(0)) << now;
  }
  EXPECT_LE(timers.asked(), 10'000U / 60 + 2) << "not each time it is used";
  timers.advance({9'999 + 59});
  EXPECT_TRUE(timers.is_live(0));
  timers.advance({9'999 + 60});
  EXPECT_FALSE(timers.is_live(0));
}

TEST(TimerWheel, a_call_does_no_more_than_its_budget) {
  constexpr uint32_t kTimers = 10'000;
  DueTimers timers(kTimers, {0});
  for (uint32_t timer = 0; timer < kTimers; ++timer) timers.begin(timer, {5 + timer % 3});
  uint64_t calls = 0;
  uint64_t fired = 0;
  do {
    const uint64_t now = timers.advance({1'000}, 64);
    ASSERT_LE(now, 64U);
    fired += now;
    ++calls;
  } while (timers.wheel().armed_count() > 0);
  EXPECT_EQ(fired, kTimers);
  EXPECT_EQ(calls, (kTimers + 63) / 64);
}

TEST(TimerWheel, a_jump_of_time_takes_no_longer_than_what_is_due) {
  DueTimers timers(1'000, {0});
  for (uint32_t timer = 0; timer < 1'000; ++timer) timers.begin(timer, {timer * 1'000 + 1});
  EXPECT_GE(timers.advance({uint64_t{1} << 60}), 1'000U);
  timers.check();
  EXPECT_EQ(timers.wheel().armed_count(), 0U);
  timers.begin(7, {(uint64_t{1} << 60) + 3});
  timers.advance({(uint64_t{1} << 60) + 3});
  EXPECT_FALSE(timers.is_live(7));
}

TEST(TimerWheel, one_that_ends_may_take_others_with_it) {
  TimerWheel wheel = wheel_of(100);
  for (uint32_t timer = 0; timer < 100; ++timer) wheel.arm(timer, {5});
  uint64_t seen = 0;
  wheel.advance(
      {5}, kAll, [](uint32_t) {},
      [&](uint32_t timer) -> std::optional<Tick> {
        ++seen;
        wheel.disarm(timer ^ 1);
        return {};
      });
  EXPECT_EQ(seen, 50U);
  EXPECT_TRUE(wheel.audit());
}

TEST(TimerWheel, agrees_with_a_list_under_random_operations) {
  constexpr uint32_t kTimers = 2'000;
  std::mt19937_64 draw(1);
  DueTimers timers(kTimers, {12'345});
  const auto timeout = [&] { return uint64_t{1} + (draw() >> (46 + draw() % 17)); };  // 1 to 2^18
  const uint64_t steps = step_count(1'000'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const auto timer = static_cast<uint32_t>(draw() % kTimers);
    const Tick due{timers.now().count + timeout()};
    switch (draw() % 8) {
      case 0:
        timers.advance({timers.now().count + draw() % 20});
        break;
      case 1:
        if (draw() % 100 == 0) timers.advance({timers.now().count + timeout()});
        break;
      case 2:
        if (timers.is_live(timer)) timers.end(timer);
        break;
      case 3:
      case 4:
        timers.begin(timer, due);
        break;
      default:
        // A use is never due earlier than the one before, unless the wheel is told.
        if (timers.is_live(timer)) timers.begin(timer, due);
        if (timers.is_live(timer)) timers.use(timer, {due.count + draw() % 1'000});
        break;
    }
    if (step % 10'000 == 0) {
      timers.advance(timers.now());
      ASSERT_NO_FATAL_FAILURE(timers.check()) << "step " << step;
    }
  }
}

TEST(TimerWheel, refuses_a_number_of_timers_that_it_cannot_have) {
  EXPECT_EQ(TimerWheel::create({.timers = 0}).error().message,
            "a timer wheel of 0 timers: it has 1 to 2147483646");
  EXPECT_FALSE(TimerWheel::create({.timers = uint64_t{1} << 31}).ok());
}

TEST(TimerWheel, takes_eight_bytes_a_timer_and_its_lists) {
  EXPECT_LE(wheel_of(1'000'000).memory_bytes(), 8'000'000U + 12'288);
}

}  // namespace
}  // namespace roost
