// What a lookup takes of a program that looks keys up itself: instructions and accesses to memory,
// as valgrind counts them of real binaries (software_costs.toml, which
// lab/2019-halo/lookup_costs.py writes).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/config/toml_file.h"

namespace roost::sim {

struct InstructionCounts {
  double instructions = 0;  // with those that access memory
  double loads = 0;
  double stores = 0;
};

struct SoftwareCost {
  std::string name{};  // of the way: "rte_hash_one", "single_one", "split_32", ...
  uint32_t keys_a_call = 1;
  uint32_t key_bytes = 0;
  InstructionCounts hit{};
  InstructionCounts miss{};
};

// Faults: not TOML, something missing, unknown or out of range.
[[nodiscard]] config::Outcome<std::vector<SoftwareCost>> parse_software_costs(
    std::string_view text);

// The file that is compiled in, and what it says.
[[nodiscard]] std::string_view software_costs_text();
[[nodiscard]] std::span<const SoftwareCost> software_costs();

// The one of a way whose keys' length is nearest; nullptr if the way is not known.
[[nodiscard]] const SoftwareCost* software_cost(std::string_view name, uint32_t key_bytes);

}  // namespace roost::sim
