#include "lab/jobs/job.h"

#include <fmt/format.h>

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

traffic::KeySource keys_of_core(const JobConfig& config, size_t core) {
  return traffic::KeySource(config.seed + core, config.key_bits);
}

}  // namespace roost::lab
