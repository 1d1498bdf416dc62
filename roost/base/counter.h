// A counter, declared once: sums, JSON, metrics and the manual's tables are made from lists of
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace roost {

template <class Counters>
struct Counter {
  std::string_view name;  // of its field in reports
  uint64_t Counters::*value;
  std::string_view help;  // what it counts
};
template <class Counters>
Counter(std::string_view, uint64_t Counters::*, std::string_view) -> Counter<Counters>;

// Adds each listed counter of `from` to that of `to`.
template <class Counters>
constexpr void add_counters(std::span<const Counter<Counters>> list, const Counters& from,
                            Counters& to) {
  for (const Counter<Counters>& one : list) to.*one.value += from.*one.value;
}

// Whether each member of a struct that holds counters alone stands in the list, and once: what is
// not listed is in no sum and no report.
template <class Counters, size_t kCount>
[[nodiscard]] consteval bool lists_all(const std::array<Counter<Counters>, kCount>& list) {
  for (size_t i = 0; i < kCount; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (list[i].value == list[j].value || list[i].name == list[j].name) return false;
    }
  }
  return sizeof(Counters) == kCount * sizeof(uint64_t);
}

}  // namespace roost
