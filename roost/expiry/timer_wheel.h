// When each of many numbered timers is due: a hierarchical timer wheel (CT-04), for tables whose
// entries have no timers of their own.
//
// Four levels of 64 buckets. A bucket of level k is 64^k ticks long, and a timer stands in the
// finest level that reaches its due tick:
//
//     level 0   the tick itself                    up to          63 ticks ahead
//     level 1   64 ticks, due at their beginning   up to       4,095
//     level 2   4,096 ticks                        up to     262,143
//     level 3   262,144 ticks                      up to  16,777,215
//
// What is later still stands in the last bucket of level 3.
//
// A timer of level 1 and above comes due too early, at the beginning of its bucket. That costs
// nothing of its own, because whoever is called must look in any case: a timer is not moved when
// its connection is used. It is asked when it comes due, and says when it is due now:
// nothing is written a packet, and there is no cascade beside that.
//
// A bucket has lists that are linked both ways, eight bytes a timer, so that a timer is taken out
// in constant time when its connection ends. None is left behind that could end the next connection
// of the same number (T-11). Who follows whom in a list is known only when the line of the first is
// there; so there are eight lists, by the timers' numbers, and those due are taken from them in
// turn: while one is seen to, the next of the others are on their way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"

namespace roost {

// One thread uses it.
class TimerWheel {
 public:
  using Timer = uint32_t;

  static constexpr uint64_t kTimersMax = (uint64_t{1} << 31) - 2;

  struct Config {
    uint64_t timers = 0;  // numbered from 0; 1 to kTimersMax
    Tick now{};           // where time begins
    ArenaOptions memory{};
  };

  // A wheel in which no timer is armed. Errors: a number of timers out of range; no memory.
  [[nodiscard]] static Result<TimerWheel> create(const Config& config);

  // The timer comes due at `due`, or at the next advance() if that is past. One that is armed
  // already is moved. Constant time: its own line, and that of the timer whose place it takes.
  void arm(Timer timer, Tick due);
  // The timer comes due no more. Constant time; nothing happens to one that is not armed.
  void disarm(Timer timer);
  [[nodiscard]] bool is_armed(Timer timer) const { return node(timer).previous != kNone; }

  // Moves time to `now`, which must not lie in the past, and sees to what comes due by then: calls
  // fire(timer) -> std::optional<Tick> for at most `budget` timers, each of which is armed again
  // for the later tick that fire() gives, or not at all. Some timers before, ask(timer) may
  // prefetch what fire(timer) will read. fire() may arm and disarm other timers. Returns how many
  // it called: if as many as the budget, there may be more, which the next call goes on with.
  // Constant time a timer, and none for a tick in which nothing is due.
  template <class Ask, class Fire>
  uint64_t advance(Tick now, uint64_t budget, Ask&& ask, Fire&& fire);

  [[nodiscard]] uint64_t armed_count() const { return armed_count_; }
  [[nodiscard]] uint64_t timer_count() const { return timer_count_; }
  [[nodiscard]] uint64_t memory_bytes() const {
    return timer_count_ * sizeof(Node) + sizeof(*this);
  }
  // Whether lists, marks and counts agree. Linear in the timers.
  [[nodiscard]] bool audit() const;

 private:
  static constexpr unsigned kLevels = 4;
  static constexpr unsigned kBucketBits = 6;
  static constexpr unsigned kBuckets = 1 << kBucketBits;
  // Of the timers that are due, behind those of all levels.
  static constexpr uint32_t kDueBucket = kLevels * kBuckets;
  static constexpr unsigned kLists = 8;  // of a bucket

  // A reference is a timer's number and one, or a list's number with kIsList; so zeroed memory is
  // a wheel without timers.
  static constexpr uint32_t kNone = 0;
  static constexpr uint32_t kIsList = uint32_t{1} << 31;
  struct Node {
    uint32_t next;      // timer, or kNone
    uint32_t previous;  // timer or list; kNone: not armed
  };
  static_assert(sizeof(Node) == 8);

  // A bucket that has timers, and the tick at which they come due.
  struct DueBucket {
    Tick tick{};
    unsigned level = 0;
    unsigned bucket = 0;
  };

  TimerWheel(Arena arena, const Config& config)
      : arena_(std::move(arena)), timer_count_(config.timers), next_(config.now) {}

  [[nodiscard]] Node& node(Timer timer) const {
    ROOST_DEBUG_ASSERT(timer < timer_count_);
    return reinterpret_cast<Node*>(arena_.data())[timer];
  }
  void link(Timer timer, uint32_t bucket);
  void unlink(Node& node);
  [[nodiscard]] uint32_t bucket_for(Tick due) const;
  [[nodiscard]] std::span<const uint32_t, kLists> lists_of(uint32_t bucket) const {
    return std::span<const uint32_t, kLists>(&first_[size_t{bucket} * kLists], kLists);
  }
  [[nodiscard]] bool is_empty(uint32_t bucket) const {
    return std::ranges::all_of(lists_of(bucket), [](uint32_t first) { return first == kNone; });
  }
  [[nodiscard]] std::optional<DueBucket> first_bucket() const;
  void take_due(const DueBucket& due);
  // Takes out a timer that is due, of the list whose turn it is, and asks for the one behind it.
  template <class Ask>
  [[nodiscard]] Timer take_next(Ask& ask);
  // Asks for a timer, unless the reference is to none.
  template <class Ask>
  [[gnu::always_inline]] void ask_for(uint32_t reference, Ask& ask) const {
    if (reference == kNone) return;
    prefetch(PrefetchHint::kT0, &node(reference - 1));
    ask(Timer{reference - 1});
  }

  Arena arena_;
  std::array<uint32_t, size_t{kDueBucket + 1} * kLists> first_{};  // of each list
  std::array<uint64_t, kLevels> has_timers_{};                     // a bit a bucket
  uint64_t timer_count_;
  uint64_t armed_count_ = 0;
  Tick next_;          // the first that was not seen to; no bucket of an earlier one has timers
  uint32_t turn_ = 0;  // which of the lists of those due is next
};

template <class Ask, class Fire>
uint64_t TimerWheel::advance(Tick now, uint64_t budget, Ask&& ask, Fire&& fire) {
  ROOST_DEBUG_ASSERT(now.count + 1 >= next_.count);
  uint64_t fired = 0;
  for (;;) {
    while (!is_empty(kDueBucket)) {
      if (fired == budget) return fired;
      const Timer timer = take_next(ask);
      ++fired;
      if (const std::optional<Tick> due = fire(timer)) {
        ROOST_DEBUG_ASSERT(*due > now);
        arm(timer, *due);
      }
    }
    const std::optional<DueBucket> due = first_bucket();
    if (!due || due->tick > now) break;
    take_due(*due);
    for (const uint32_t first : lists_of(kDueBucket)) ask_for(first, ask);
  }
  next_.count = now.count + 1;
  return fired;
}

template <class Ask>
TimerWheel::Timer TimerWheel::take_next(Ask& ask) {
  while (lists_of(kDueBucket)[turn_] == kNone) turn_ = (turn_ + 1) % kLists;
  const Timer timer = lists_of(kDueBucket)[turn_] - 1;
  unlink(node(timer));
  ask_for(lists_of(kDueBucket)[turn_], ask);
  turn_ = (turn_ + 1) % kLists;
  return timer;
}

}  // namespace roost
