// Counters as people read them: columns of a table, or numbers with the words behind them. Which
// ones, and in what words, their lists say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "roost/base/counter.h"

namespace roost::control {

using TextOut = std::back_insert_iterator<std::string>;

// Of a table: a space, and the text at the column's right edge.
void write_cell(std::string_view text, int columns, TextOut out);
void write_cell(uint64_t count, int columns, TextOut out);
[[nodiscard]] std::string in_words(uint64_t count, std::string_view words,
                                   std::string_view function);

template <class Counters>
void write_heads(std::span<const Counter<Counters>> list, TextOut out) {
  for (const Counter<Counters>& one : list) {
    if (!one.text.empty()) write_cell(one.text, one.columns, out);
  }
}

// Below these heads.
template <class Counters>
void write_cells(std::span<const Counter<Counters>> list, const Counters& values, TextOut out) {
  for (const Counter<Counters>& one : list) {
    if (!one.text.empty()) write_cell(values.*one.value, one.columns, out);
  }
}

// Of a table without heads: each number at its column's right edge, and the words behind it.
template <class Counters>
void write_row(std::span<const Counter<Counters>> list, const Counters& values, TextOut out) {
  for (const Counter<Counters>& one : list) {
    if (one.text.empty()) continue;
    write_cell(values.*one.value, one.columns, out);
    *out++ = ' ';
    std::ranges::copy(one.text, out);
  }
}

// "3 too big". `function`: as the words name it, "balancer".
template <class Counters>
[[nodiscard]] std::string in_words(const Counter<Counters>& one,
                                   const std::type_identity_t<Counters>& values,
                                   std::string_view function = {}) {
  return in_words(values.*one.value, one.text, function);
}

// "4 flows, 12 packets, 960 bytes"
template <class Counters>
[[nodiscard]] std::string all_in_words(std::span<const Counter<Counters>> list,
                                       const Counters& values) {
  std::string text;
  for (const Counter<Counters>& one : list) {
    if (one.text.empty()) continue;
    if (!text.empty()) text += ", ";
    text += in_words(one, values);
  }
  return text;
}

}  // namespace roost::control
