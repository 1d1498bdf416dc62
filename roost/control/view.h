// How a result is shown to people: a list of blocks that a program can print without knowing the
// command. An answer carries it beside the result, whose rows it names by JSON pointers, so that
// nothing is sent twice.
//
//   {"text": "drops by cause"}                            a line
//   {"list": {...} or "/drops", "without_zeroes": true}   names and values, a line each
//   {"rows": [...] or "/flows", "columns": ["a", "b"]}    a table; a row is an object
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/control/json.h"

namespace roost::control {

class View {
 public:
  using Columns = std::vector<std::string_view>;
  enum class Zeroes { kShown, kLeftOut };

  View& text(std::string line);
  // `where`: a pointer into the result, or the object or rows themselves.
  View& list(Json where, Zeroes zeroes = Zeroes::kShown);
  View& table(Json where, const Columns& columns);
  [[nodiscard]] Json take() { return std::move(blocks_); }

 private:
  Json blocks_ = Json::array();
};

// A column for each counter of a list, behind these.
template <class Counters>
[[nodiscard]] View::Columns with_counters(View::Columns columns,
                                          std::span<const Counter<Counters>> list) {
  for (const Counter<Counters>& one : list) columns.push_back(one.name);
  return columns;
}

// Names and values of the whole result.
[[nodiscard]] Json list_view(const Json& result);
[[nodiscard]] Json neighbours_view(const Json& result);
[[nodiscard]] Json trace_view(const Json& result);

// Of a function's statistics: packets, what `add_own` adds, drops by cause, ports.
void add_packets_and_drops(const Json& result, const std::function<void()>& add_own, View& view);

// Workers: each is an object with `worker`, `core`, `packets`, `batches`, the function's own
// columns and `cycles_a_packet`, and perhaps `tables`, whose columns are given.
void add_workers(const Json& workers, const View::Columns& own_columns,
                 const View::Columns& table_columns, View& view);

// Of workers that have no columns of their own.
[[nodiscard]] Json workers_view(const Json& result);

}  // namespace roost::control
