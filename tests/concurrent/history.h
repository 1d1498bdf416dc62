// Histories of a shared table: what each thread did, when it began and when it ended, and whether
// one order of all that explains every answer. There is one writer, so it does so if it does key by
// key: a key's states follow each other as the writer made them, and each may be seen from the
// beginning of the change that made it to the end of the one that ended it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace roost {

// Nanoseconds of a clock that all processors share.
[[nodiscard]] inline uint64_t history_time() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// Codes of values are 1 and more.
inline constexpr uint16_t kAbsent = 0;
// What a reader says of a value whose parts do not belong together.
inline constexpr uint16_t kTorn = 0xFFFF;

// What a history has of an answer with this code; 0 is the code of a value that is torn.
[[nodiscard]] constexpr uint16_t answer_code(bool is_hit, uint16_t code) {
  if (!is_hit) return kAbsent;
  return code == 0 ? kTorn : code;
}

// A lookup with its answer, or a change with what the key has from then on.
struct HistoryEvent {
  uint64_t begin;
  uint64_t end;
  uint32_t key;
  uint16_t code;
};

// The numbers of keys that one call asks for.
template <size_t kLanes>
std::array<uint32_t, kLanes> drawn_keys(std::mt19937_64& random, uint64_t key_count) {
  std::array<uint32_t, kLanes> numbers;
  for (uint32_t& number : numbers) number = static_cast<uint32_t>(random() % key_count);
  return numbers;
}

class History {
 public:
  explicit History(uint64_t key_count) : states_(key_count, {kNeverChanged}) {}

  // Adds changes of the writer, in its order.
  void add(const std::vector<HistoryEvent>& changes) {
    for (const HistoryEvent& change : changes) {
      states_[change.key].back().until = change.end;
      states_[change.key].push_back({change.begin, kEver, change.code});
    }
  }
  // Forgets what can be seen no more by lookups that begin after everything so far.
  void forget_past() {
    for (std::vector<State>& states : states_) states.erase(states.begin(), states.end() - 1);
  }

  // What is wrong with the answer of a lookup, or nothing.
  [[nodiscard]] std::string_view check(const HistoryEvent& lookup) const {
    const std::vector<State>& states = states_[lookup.key];
    auto state =
        std::lower_bound(states.begin(), states.end(), lookup.begin,
                         [](const State& before, uint64_t begin) { return before.until < begin; });
    const auto first = state;
    bool is_there = false;
    for (; state != states.end() && state->from <= lookup.end; ++state) {
      if (state->code == lookup.code) return "";
      is_there = is_there || state->code != kAbsent;
    }
    if (lookup.code == kTorn) return "torn";
    if (lookup.code == kAbsent) return "lost";
    const bool was_so = std::any_of(
        states.begin(), first, [&lookup](const State& past) { return past.code == lookup.code; });
    if (!was_so) return "never written";
    return is_there ? "stale" : "resurrected";
  }

 private:
  static constexpr uint64_t kEver = std::numeric_limits<uint64_t>::max();

  // What a key has, and when it may be seen.
  struct State {
    uint64_t from;
    uint64_t until;
    uint16_t code;
  };
  static constexpr State kNeverChanged = {0, kEver, kAbsent};

  std::vector<std::vector<State>> states_;
};

}  // namespace roost
