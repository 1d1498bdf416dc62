#include "lab/jobs/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roost::lab {

uint64_t entries_at(const JobConfig& config, double load) {
  return static_cast<uint64_t>(static_cast<double>(config.slots) * load);
}

RecordRow row_of(const JobConfig& config, double load, const std::string& contestant) {
  RecordRow row;
  row.experiment = config.experiment;
  row.contestant = contestant;
  row.workload = config.lookups_per_insert != 0
                     ? fmt::format("churn 1:{}", config.lookups_per_insert)
                 : config.zipf_exponent != 0 ? fmt::format("zipf {}", config.zipf_exponent)
                                             : "uniform";
  row.slots = config.slots;
  row.entries = entries_at(config, load);
  row.load = load;
  row.core = config.cores.empty() ? -1 : config.cores.front();
  row.seed = config.seed;
  return row;
}

RecordRow not_run(RecordRow row, const std::string& why) {
  row.value.reset();
  row.note = "not run: " + why;
  return row;
}

void describe(RecordRow& row, AnyTable& table, const Key& present) {
  row.key_bytes = table.key_bytes();
  row.value_bytes = table.value_bytes();
  row.table_bytes = table.memory_bytes();
  row.line_hint = table.line_hint().value_or("");
  const PagesBehind pages = table.pages(present);
  row.page_bytes = pages.page_bytes;
  row.transparent_huge_bytes = pages.transparent_huge_bytes;
}

std::optional<Error> wrong_in_sample(const JobConfig& config, AnyTable& table, uint64_t first_entry,
                                     uint64_t entry_count) {
  const Stream sample(traffic::query_stream(keys_of_core(config, 0), {.first_entry = first_entry,
                                                                      .entry_count = entry_count,
                                                                      .query_count = config.lookups,
                                                                      .miss_ratio = 0.5}));
  const auto wrong = table.first_wrong(sample, kPlainCall);
  if (!wrong) return std::nullopt;
  return Error{fmt::format("{}, filled with {} entries: {}; nothing it says counts", table.name(),
                           entry_count, *wrong)};
}

traffic::KeySource keys_of_core(const JobConfig& config, size_t core) {
  return traffic::KeySource(config.seed + (config.shared ? 0 : core), config.key_bits);
}

std::vector<Key> queries_of_core(const JobConfig& config, size_t core,
                                 const traffic::StreamShape& shape) {
  std::vector<Key> queries = traffic::query_stream(keys_of_core(config, core), shape);
  if (config.shared) {
    const auto first = queries.size() * core / config.cores.size();
    std::rotate(queries.begin(), queries.begin() + static_cast<ptrdiff_t>(first), queries.end());
  }
  return queries;
}

}  // namespace roost::lab
