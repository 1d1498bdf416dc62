#include "roost/config/workers_config.h"

#include "roost/config/comparison.h"
#include "roost/config/toml_table.h"

namespace roost::config {

namespace {

constexpr uint32_t kPauseMicrosecondsMax = 10'000;
// Rings of a thousand, in and out, and a batch beside them.
constexpr uint32_t kBuffersMin = 4'096;
constexpr uint32_t kBuffersMax = 131'072;  // times all ports and workers that DPDK has, in 32 bits

}  // namespace

WorkersConfig read_workers(TomlTable& table) {
  WorkersConfig config;
  if (const auto workers = table.integer("workers", {1, kWorkersMax})) {
    config.count = static_cast<uint32_t>(*workers);
  }
  config.pause_microseconds = static_cast<uint32_t>(
      table.integer("pause_microseconds", {0, kPauseMicrosecondsMax}).value_or(0));
  config.buffers = static_cast<uint32_t>(
      table.integer("buffers", {kBuffersMin, kBuffersMax}).value_or(config.buffers));
  return config;
}

void compare_workers(const WorkersConfig& running, const WorkersConfig& file,
                     const std::string& section, Comparison& comparison) {
  if (file.count) {
    comparison.compare(0, (section + " workers").c_str(), running.count, file.count);
  }
  comparison.compare(0, (section + " pause_microseconds").c_str(), running.pause_microseconds,
                     file.pause_microseconds);
  comparison.compare(0, (section + " buffers").c_str(), running.buffers, file.buffers);
}

}  // namespace roost::config
