#include "roost/config/workers_config.h"

#include "roost/config/comparison.h"
#include "roost/config/toml_table.h"

namespace roost::config {

namespace {

constexpr uint32_t kPauseMicrosecondsMax = 10'000;

}  // namespace

WorkersConfig read_workers(TomlTable& table) {
  WorkersConfig config;
  if (const auto workers = table.integer("workers", {1, kWorkersMax})) {
    config.count = static_cast<uint32_t>(*workers);
  }
  config.pause_microseconds = static_cast<uint32_t>(
      table.integer("pause_microseconds", {0, kPauseMicrosecondsMax}).value_or(0));
  return config;
}

void compare_workers(const WorkersConfig& running, const WorkersConfig& file,
                     const std::string& section, Comparison& comparison) {
  if (file.count) {
    comparison.compare(0, (section + " workers").c_str(), running.count, file.count);
  }
  comparison.compare(0, (section + " pause_microseconds").c_str(), running.pause_microseconds,
                     file.pause_microseconds);
}

}  // namespace roost::config
