// Simulated time: what happens next, in an order that depends on nothing but the input.
//
// A wheel of 4,096 cycles with a list a cycle, and a map for what is farther away. Within a cycle,
// messages are handled in the order in which they were put there; what is clocked comes after them,
// so that an input is seen in the cycle in which it arrives (docs/decisions/0052).
//
// One thread. Putting and taking take constant time, however empty the cycles between are.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "roost/base/assert.h"

namespace roost::sim {

using Cycle = uint64_t;

class EventTarget;

// What arrives at a target. What kind, index and argument mean is the target's own affair.
struct Event {
  EventTarget* target = nullptr;
  uint32_t kind = 0;
  uint32_t index = 0;
  uint64_t argument = 0;
};

class EventTarget {
 public:
  virtual void handle(const Event& event) = 0;

 protected:
  EventTarget() = default;
  EventTarget(const EventTarget&) = default;
  EventTarget& operator=(const EventTarget&) = default;
  ~EventTarget() = default;
};

class EventQueue {
 public:
  EventQueue() : slots_(kSlots) {}

  [[nodiscard]] Cycle now() const { return now_; }
  [[nodiscard]] bool empty() const { return pending_ == 0; }

  // A message that arrives at a cycle, now at the earliest.
  void at(Cycle when, const Event& event) {
    ROOST_DEBUG_ASSERT(when >= now_ && !(in_clocked_ && when == now_));
    put(when, event, false);
  }
  // The same behind all messages of that cycle.
  void clock_at(Cycle when, const Event& event) {
    ROOST_DEBUG_ASSERT(when >= now_ && !(in_clocked_ && when == now_));
    put(when, event, true);
  }

  // Handles everything of the next cycle that has anything, if that is not after `last`. False if
  // there is no such cycle.
  bool run_cycle(Cycle last) {
    if (pending_ == 0) return false;
    const Cycle next = next_cycle();
    if (next > last) return false;
    now_ = next;
    take_far();
    Slot& slot = slots_[now_ % kSlots];
    for (size_t i = 0; i < slot.messages.size(); ++i) deliver(slot.messages[i]);
    slot.messages.clear();
    in_clocked_ = true;
    for (size_t i = 0; i < slot.clocked.size(); ++i) deliver(slot.clocked[i]);
    slot.clocked.clear();
    in_clocked_ = false;
    occupied_[now_ % kSlots / 64] &= ~(uint64_t{1} << (now_ % 64));
    return true;
  }

 private:
  static constexpr Cycle kSlots = 4096;

  struct Slot {
    std::vector<Event> messages;
    std::vector<Event> clocked;
  };

  void put(Cycle when, const Event& event, bool is_clocked) {
    ++pending_;
    if (when - now_ >= kSlots) {
      Slot& slot = far_[when];
      (is_clocked ? slot.clocked : slot.messages).push_back(event);
      return;
    }
    Slot& slot = slots_[when % kSlots];
    (is_clocked ? slot.clocked : slot.messages).push_back(event);
    occupied_[when % kSlots / 64] |= uint64_t{1} << (when % 64);
  }

  // By value: handling it may put more into the list.
  void deliver(Event event) {
    --pending_;
    event.target->handle(event);
  }

  [[nodiscard]] Cycle next_cycle() const {
    const uint64_t start = now_ % kSlots;
    // The word of `now`, from its bit on; then the other words, and this word's lower bits.
    for (uint64_t step = 0; step <= kWords; ++step) {
      const uint64_t index = (start / 64 + step) % kWords;
      uint64_t word = occupied_[index];
      if (step == 0) word &= ~uint64_t{0} << (start % 64);
      if (step == kWords) word &= ~(~uint64_t{0} << (start % 64));
      if (word == 0) continue;
      const uint64_t slot = index * 64 + static_cast<uint64_t>(std::countr_zero(word));
      return now_ + (slot - start + kSlots) % kSlots;
    }
    return far_.begin()->first;
  }

  // Moves what has come near, before anything else is put there: so the order stays that of
  // putting.
  void take_far() {
    while (!far_.empty() && far_.begin()->first - now_ < kSlots) {
      const Cycle when = far_.begin()->first;
      slots_[when % kSlots] = std::move(far_.begin()->second);
      occupied_[when % kSlots / 64] |= uint64_t{1} << (when % 64);
      far_.erase(far_.begin());
    }
  }

  static constexpr uint64_t kWords = kSlots / 64;
  std::vector<Slot> slots_;
  std::array<uint64_t, kWords> occupied_{};
  std::map<Cycle, Slot> far_;
  Cycle now_ = 0;
  uint64_t pending_ = 0;
  bool in_clocked_ = false;
};

}  // namespace roost::sim
