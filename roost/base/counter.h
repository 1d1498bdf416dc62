// A counter, declared once: sums, JSON, metrics and the manual's tables are made from lists of
// them.
#pragma once

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

}  // namespace roost
