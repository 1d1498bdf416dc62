#include "roost/table/hint_choice.h"

#include <algorithm>
#include <limits>

namespace roost {
namespace {

constexpr uint64_t kForEver = std::numeric_limits<uint64_t>::max();
constexpr unsigned kTrials = HintChoice::kTurns * kPrefetchHints.size();

}  // namespace

HintChoice::HintChoice(PrefetchHint first, std::optional<PrefetchHint> forced)
    : lanes_of_stretch_(forced ? kForEver : kSettlingLanes),
      present_(forced.value_or(first)),
      chosen_(present_),
      for_changes_(present_) {
  if (!forced) begin_trial();
}

// A trial is two stretches: one for the caches to settle, one that is timed. After the last trial
// comes a pause with the hint that was chosen.
void HintChoice::end_stretch() {
  const bool is_pause = trial_ == kTrials;
  if (is_pause) {
    trial_ = 0;
    begin_trial();
  } else if (!is_timing_) {
    begin_stretch(kTimedLanes, true);
  } else {
    double& least = least_[static_cast<size_t>(present_)];
    least = std::min(least, static_cast<double>(timed_.count()) / static_cast<double>(lanes_));
    if (++trial_ < kTrials) {
      begin_trial();
    } else {
      choose();
    }
  }
}

void HintChoice::begin_stretch(uint64_t lane_count, bool is_timed) {
  lanes_ = 0;
  lanes_of_stretch_ = lane_count;
  timed_ = Time::zero();
  is_timing_ = is_timed;
}

void HintChoice::begin_trial() {
  if (trial_ == 0) least_.fill(std::numeric_limits<double>::max());
  present_ = kPrefetchHints[trial_ % kPrefetchHints.size()];
  begin_stretch(kSettlingLanes, false);
}

void HintChoice::choose() {
  const auto fastest = static_cast<size_t>(std::ranges::min_element(least_) - least_.begin());
  if (least_[fastest] < kBetter * least_[static_cast<size_t>(chosen_)])
    chosen_ = kPrefetchHints[fastest];
  present_ = chosen_;
  ++round_count_;
  begin_stretch(pause_lanes_, false);
  pause_lanes_ = std::min({2 * pause_lanes_, kPauseLanesMax});
}

}  // namespace roost
