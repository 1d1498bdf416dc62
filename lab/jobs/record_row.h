// One line of a record: under which conditions which figure of which contestant was found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace roost::lab {

// Fields that do not apply stay empty and are empty in the record.
struct RecordRow {
  std::string experiment;
  std::string kind = "measured";  // or simulated, emulated, analytic
  std::string contestant;
  std::string form;      // how it is called; of the ceiling its hint and distance
  std::string workload;  // "uniform", "zipf 0.99", "churn 1:20"
  uint64_t slots = 0;
  uint64_t entries = 0;
  double load = 0;
  size_t key_bytes = 0;
  size_t value_bytes = 0;
  std::optional<double> miss_ratio = {};
  std::optional<size_t> lanes_per_call = {};
  size_t core_count = 1;
  std::optional<unsigned> round = {};
  std::string metric;
  std::optional<double> value = {};  // empty: it was not run, and `note` says why
  std::optional<uint64_t> operations = {};
  std::optional<double> seconds = {};
  std::optional<double> lines_per_lookup = {};
  std::optional<double> secondary_visits_per_lookup = {};
  std::optional<double> filter_false_positives_per_lookup = {};
  std::optional<double> kicks_per_insert = {};
  std::optional<uint64_t> page_bytes = {};
  std::optional<uint64_t> transparent_huge_bytes = {};
  std::optional<uint64_t> table_bytes = {};
  std::string line_hint;  // where the table prefetches buckets' lines to
  // The regions of the fewest lines a lookup can touch: which ceiling it is held against.
  std::optional<uint64_t> first_bytes = {};
  std::optional<uint64_t> second_bytes = {};
  int core = -1;
  uint64_t seed = 0;
  std::string note;
};

// The names of the fields, and the fields of a row, as lines of CSV.
[[nodiscard]] std::string csv_header();
[[nodiscard]] std::string csv_line(const RecordRow& row);

}  // namespace roost::lab
