#include "roost/expiry/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace roost {

Result<TimerWheel> TimerWheel::create(const Config& config) {
  if (config.timers == 0 || config.timers > kTimersMax) {
    return Error{"a timer wheel of " + std::to_string(config.timers) + " timers: it has 1 to " +
                 std::to_string(kTimersMax)};
  }
  Result<Arena> arena = Arena::map(config.timers * sizeof(Node), config.memory);
  if (!arena) return arena.error();
  return TimerWheel(std::move(arena).value(), config);
}

void TimerWheel::arm(Timer timer, Tick due) {
  Node& armed = node(timer);
  if (armed.previous != kNone) unlink(armed);
  link(timer, bucket_for(due));
}

void TimerWheel::disarm(Timer timer) {
  Node& armed = node(timer);
  if (armed.previous != kNone) unlink(armed);
}

void TimerWheel::link(Timer timer, uint32_t bucket) {
  const uint32_t list = bucket * kLists + timer % kLists;
  Node& added = node(timer);
  added.next = std::exchange(first_[list], timer + 1);
  added.previous = kIsList | list;
  if (added.next != kNone) node(added.next - 1).previous = timer + 1;
  if (bucket != kDueBucket) has_timers_[bucket / kBuckets] |= uint64_t{1} << (bucket % kBuckets);
  ++armed_count_;
}

void TimerWheel::unlink(Node& node) {
  if (node.next != kNone) this->node(node.next - 1).previous = node.previous;
  if ((node.previous & kIsList) == 0) {
    this->node(node.previous - 1).next = node.next;
  } else {
    const uint32_t list = node.previous & ~kIsList;
    first_[list] = node.next;
    const uint32_t bucket = list / kLists;
    if (node.next == kNone && bucket != kDueBucket && is_empty(bucket)) {
      has_timers_[bucket / kBuckets] &= ~(uint64_t{1} << (bucket % kBuckets));
    }
  }
  node.previous = kNone;
  --armed_count_;
}

// A bucket at the level of the one that time is in is that one's 63 followers' at most; so no
// bucket has timers of two rounds. Of a level above the first, the bucket that time is in is
// reached by a finer level.
uint32_t TimerWheel::bucket_for(Tick due) const {
  if (due < next_) return kDueBucket;
  unsigned level = 0;
  uint64_t bucket = due.count;
  while (bucket - (next_.count >> (kBucketBits * level)) >= kBuckets && level + 1 < kLevels) {
    bucket >>= kBucketBits;
    ++level;
  }
  const uint64_t last = (next_.count >> (kBucketBits * level)) + kBuckets - 1;
  return level * kBuckets + static_cast<uint32_t>(std::min(bucket, last) % kBuckets);
}

std::optional<TimerWheel::DueBucket> TimerWheel::first_bucket() const {
  std::optional<DueBucket> first;
  for (unsigned level = 0; level < kLevels; ++level) {
    if (has_timers_[level] == 0) continue;
    const uint64_t here = next_.count >> (kBucketBits * level);
    const int ahead =
        std::countr_zero(std::rotr(has_timers_[level], static_cast<int>(here % kBuckets)));
    const uint64_t bucket = here + static_cast<unsigned>(ahead);
    const Tick tick{bucket << (kBucketBits * level)};
    if (!first || tick < first->tick) {
      first = {tick, level, static_cast<unsigned>(bucket % kBuckets)};
    }
  }
  return first;
}

// Moves time to the bucket's tick, and its timers into the lists of those due, which are empty.
void TimerWheel::take_due(const DueBucket& due) {
  const uint32_t bucket = due.level * kBuckets + due.bucket;
  next_ = due.tick;
  has_timers_[due.level] &= ~(uint64_t{1} << due.bucket);
  for (uint32_t i = 0; i < kLists; ++i) {
    const uint32_t list = kDueBucket * kLists + i;
    first_[list] = std::exchange(first_[bucket * kLists + i], kNone);
    if (first_[list] != kNone) node(first_[list] - 1).previous = kIsList | list;
  }
}

bool TimerWheel::audit() const {
  uint64_t armed = 0;
  for (uint32_t bucket = 0; bucket < kDueBucket; ++bucket) {
    const bool is_marked = (has_timers_[bucket / kBuckets] >> (bucket % kBuckets) & 1) != 0;
    if (is_marked == is_empty(bucket)) return false;
  }
  for (uint32_t list = 0; list < first_.size(); ++list) {
    uint32_t previous = kIsList | list;
    for (uint32_t at = first_[list]; at != kNone; at = node(at - 1).next) {
      if (at > timer_count_ || node(at - 1).previous != previous) return false;
      if ((at - 1) % kLists != list % kLists) return false;
      previous = at;
      if (++armed > armed_count_) return false;  // a circle
    }
  }
  return armed == armed_count_;
}

}  // namespace roost
