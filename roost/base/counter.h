// A counter, declared once: sums, JSON, metrics, what people read and the manual's tables are made
// from lists of them.
//
//   inline constexpr std::array kPortCounters = {
//       Counter{"received", &PortCounters::received, "packets received, by port"}
//           .with_metric("port_received_packets")
//           .with_text("received"), ...
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
  std::string_view help;      // what it counts; {} stands for the function that counts it
  std::string_view metric{};  // its metric, where that is named alone: no prefix, no "_total"
  std::string_view text{};    // as people read it: the head of its column, or the words behind it
  int columns = 0;            // of that column

  [[nodiscard]] constexpr Counter with_metric(std::string_view metric_name) const {
    Counter counter = *this;
    counter.metric = metric_name;
    return counter;
  }
  [[nodiscard]] constexpr Counter with_text(std::string_view words, int column_count = 14) const {
    Counter counter = *this;
    counter.text = words;
    counter.columns = column_count;
    return counter;
  }
};
template <class Counters>
Counter(std::string_view, uint64_t Counters::*, std::string_view) -> Counter<Counters>;

// Adds each listed counter of `from` to that of `to`.
template <class Counters>
constexpr void add_counters(std::span<const Counter<Counters>> list, const Counters& from,
                            Counters& to) {
  for (const Counter<Counters>& one : list) to.*one.value += from.*one.value;
}

// The counter of a list that is this member.
template <class Counters, size_t kCount>
[[nodiscard]] consteval Counter<Counters> counter_of(
    const std::array<Counter<Counters>, kCount>& list, uint64_t Counters::*value) {
  size_t i = 0;
  while (list[i].value != value) ++i;  // one that is not listed does not compile
  return list[i];
}

// All of a list together.
template <class Counters>
[[nodiscard]] constexpr uint64_t sum_of(std::span<const Counter<Counters>> list,
                                        const Counters& values) {
  uint64_t sum = 0;
  for (const Counter<Counters>& one : list) sum += values.*one.value;
  return sum;
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
