// What a function's configuration says of its workers: how many, whether they sleep, and how many
// packets they have room for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace roost::config {

class Comparison;
class TomlTable;

inline constexpr uint32_t kWorkersMax = 128;  // DPDK's limit of lcores

struct WorkersConfig {
  std::optional<uint32_t> count{};  // else one for each of EAL's cores, or one
  // The longest that a worker sleeps while nothing comes; 0: it polls all the time.
  uint32_t pause_microseconds = 0;
  // Packet buffers for each port and worker: what stands in its rings, and what is under way.
  uint32_t buffers = 4'096;
};

// Reads `workers`, `pause_microseconds` and `buffers` of a function's own table.
[[nodiscard]] WorkersConfig read_workers(TomlTable& table);

// Neither changes while the function runs. `section`: the table's name in the file, "[lb]".
void compare_workers(const WorkersConfig& running, const WorkersConfig& file,
                     const std::string& section, Comparison& comparison);

}  // namespace roost::config
