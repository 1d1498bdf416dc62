#include "lab/value_tables/value_job.h"

#include <fmt/format.h>

#include <filesystem>

namespace roost::lab {

RecordRow value_row(const ValueJobConfig& config, double load, const std::string& contestant,
                    double zipf_exponent) {
  RecordRow row;
  row.experiment = config.experiment;
  row.contestant = contestant;
  row.workload =
      fmt::format("{} {}", std::filesystem::path(config.keys.name).filename().string(),
                  zipf_exponent != 0 ? fmt::format("zipf {}", zipf_exponent) : "uniform");
  row.slots = config.keys.count;
  row.entries = config.keys.count;
  row.load = load;
  row.key_bytes = has_tuples(config.keys) ? sizeof(traffic::Key104) : sizeof(uint64_t);
  row.value_bytes = (config.value_bits + 7) / 8;
  row.core = config.core;
  row.seed = config.keys.seed;
  return row;
}

RecordRow value_figure(RecordRow row, const std::string& metric, double value,
                       const std::string& note) {
  row.metric = metric;
  row.value = value;
  row.note = note;
  return row;
}

}  // namespace roost::lab
