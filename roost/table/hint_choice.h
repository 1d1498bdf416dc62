// Which cache level lookups ask for lines at: the one that this table's own lookups are fastest
// with.
//
// Idea: which hint is best depends on the processor, on the table's size and pages, on how skewed
// the keys are, how many miss and how many a call has, and on what else wants the caches
// (docs/decisions/0018-prefetch-hint.md). Only the lookups themselves know all of that. So now and
// then there is a round: each hint in turn has a stretch of lookups, untimed until the caches have
// settled, then timed; three times over, and the least time of each counts. The fastest stays until
// the next round: after a million lookups, then after twice as many as the last time, up to 16
// million. A round takes 300,000 lookups, some milliseconds.
//
// Inserts and erasures stay with the hint that they begin with: lines that are written are not for
// going past the caches, whatever lookups gain by it.
//
// Threads: one at a time, like the table.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "roost/isa/prefetch.h"

namespace roost {

class HintChoice {
 public:
  using Time = std::chrono::nanoseconds;

  // Calls of fewer keys hardly overlap: they neither count nor are used to try.
  static constexpr size_t kLanesMin = 16;
  static constexpr uint64_t kSettlingLanes = uint64_t{1} << 14;
  static constexpr uint64_t kTimedLanes = uint64_t{1} << 14;
  static constexpr unsigned kTurns = 3;
  static constexpr uint64_t kPauseLanesMin = uint64_t{1} << 20;
  static constexpr uint64_t kPauseLanesMax = uint64_t{1} << 24;
  // A hint that is to replace the present one must take less than this share of its time.
  static constexpr double kBetter = 0.97;

  // Begins with `first`, or stays with `forced`.
  HintChoice(PrefetchHint first, std::optional<PrefetchHint> forced);

  // The hint for lookups that do not count.
  [[nodiscard]] PrefetchHint chosen() const { return chosen_; }

  // The hint for the next lookup of so many keys.
  [[nodiscard]] PrefetchHint hint(size_t lane_count) const {
    return lane_count < kLanesMin ? chosen_ : present_;
  }

  // The hint for inserts and erasures.
  [[nodiscard]] PrefetchHint for_changes() const { return for_changes_; }

  // How many rounds there have been.
  [[nodiscard]] uint64_t round_count() const { return round_count_; }

  // Whether the next lookup that counts is to be timed.
  [[nodiscard]] bool is_timing() const { return is_timing_; }

  // A lookup of so many keys used hint(), and took so long if that is timed.
  void note(size_t lane_count, Time took) {
    if (lane_count < kLanesMin) return;
    timed_ += took;
    lanes_ += lane_count;
    if (lanes_ >= lanes_of_stretch_) [[unlikely]]
      end_stretch();
  }

  // Does a lookup, `look_up(hint)`, and notes it.
  template <class LookUp>
  size_t watch(size_t lane_count, LookUp&& look_up) {
    const PrefetchHint with = hint(lane_count);
    if (!is_timing_ || lane_count < kLanesMin) [[likely]] {
      note(lane_count, Time::zero());
      return look_up(with);
    }
    const auto start = std::chrono::steady_clock::now();
    const size_t hit_count = look_up(with);
    note(lane_count, std::chrono::steady_clock::now() - start);
    return hit_count;
  }

 private:
  void end_stretch();
  void begin_stretch(uint64_t lane_count, bool is_timed);
  void begin_trial();
  void choose();

  uint64_t lanes_ = 0;  // looked up in this stretch
  uint64_t lanes_of_stretch_;
  Time timed_ = Time::zero();  // of this stretch
  PrefetchHint present_;       // of this stretch
  PrefetchHint chosen_;
  PrefetchHint for_changes_;
  bool is_timing_ = false;
  unsigned trial_ = 0;  // stretches of this round that were timed
  uint64_t pause_lanes_ = kPauseLanesMin;
  uint64_t round_count_ = 0;
  std::array<double, kPrefetchHints.size()> least_{};  // nanoseconds a key, by hint, of this round
};

}  // namespace roost
