#include "lab/jobs/record_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::lab {
namespace {

using Fields = std::vector<std::pair<std::string_view, std::string>>;

template <class T>
std::string text(const std::optional<T>& field) {
  return field ? fmt::format("{}", *field) : "";
}

// Counts whole, so that they add up in a record; what was measured by as many digits as it has.
std::string digits_of(double value) {
  constexpr double kWholeMax = 0x1p53;
  const bool is_whole = std::trunc(value) == value && std::abs(value) <= kWholeMax;
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

Fields fields(const RecordRow& row) {
  return {
      {"experiment", row.experiment},
      {"kind", row.kind},
      {"contestant", row.contestant},
      {"form", quoted(row.form)},
      {"workload", row.workload},
      {"slots", fmt::format("{}", row.slots)},
      {"entries", fmt::format("{}", row.entries)},
      {"load", fmt::format("{}", row.load)},
      {"key_bytes", fmt::format("{}", row.key_bytes)},
      {"value_bytes", fmt::format("{}", row.value_bytes)},
      {"miss_ratio", text(row.miss_ratio)},
      {"lanes_per_call", text(row.lanes_per_call)},
      {"core_count", fmt::format("{}", row.core_count)},
      {"round", text(row.round)},
      {"metric", row.metric},
      {"value", row.value ? digits_of(*row.value) : ""},
      {"operations", text(row.operations)},
      {"seconds", row.seconds ? fmt::format("{:.9f}", *row.seconds) : ""},
      {"lines_per_lookup", text(row.lines_per_lookup)},
      {"secondary_visits_per_lookup", text(row.secondary_visits_per_lookup)},
      {"filter_false_positives_per_lookup", text(row.filter_false_positives_per_lookup)},
      {"kicks_per_insert", text(row.kicks_per_insert)},
      {"page_bytes", text(row.page_bytes)},
      {"transparent_huge_bytes", text(row.transparent_huge_bytes)},
      {"table_bytes", text(row.table_bytes)},
      {"line_hint", row.line_hint},
      {"first_bytes", text(row.first_bytes)},
      {"second_bytes", text(row.second_bytes)},
      {"core", fmt::format("{}", row.core)},
      {"seed", fmt::format("{}", row.seed)},
      {"note", quoted(row.note)},
  };
}

template <class Part>
std::string line(const Fields& all, Part part) {
  std::string line;
  for (const auto& field : all) line.append(line.empty() ? "" : ",").append(field.*part);
  return line + '\n';
}

}  // namespace

std::string csv_header() { return line(fields({}), &Fields::value_type::first); }
std::string csv_line(const RecordRow& row) {
  return line(fields(row), &Fields::value_type::second);
}

}  // namespace roost::lab
