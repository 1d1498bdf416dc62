#include "roost/config/function_config.h"

#include "roost/config/comparison.h"
#include "roost/config/toml_table.h"

namespace roost::config {

void read_function(TomlTable& table, FunctionConfig& config) {
  config.hash_seed = table.integer("hash_seed", {0, kSeedMax});
  config.workers = read_workers(table);
}

void compare_function(const FunctionConfig& running, const FunctionConfig& file,
                      const std::string& section, Comparison& comparison) {
  comparison.compare(0, "tick_seconds", running.tick_microseconds, file.tick_microseconds);
  if (file.hash_seed) {
    comparison.compare(0, (section + " hash_seed").c_str(), running.hash_seed, file.hash_seed);
  }
  compare_workers(running.workers, file.workers, section, comparison);
  compare_control(running.control, file.control, comparison);
}

}  // namespace roost::config
