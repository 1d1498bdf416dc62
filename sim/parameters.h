// The simulated machine's numbers and switches, as one TOML file has them (machine.toml): each with
// unit, low, middle, high and source.
//
// Nothing here has a default in code: the file that is compiled in is the default.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/config/toml_file.h"

namespace roost::sim {

// Switches, in the words of the file; the first value is the file's first choice.
enum class LlcPolicy : uint8_t { kVictim, kInclusive };
enum class ReplacementChoice : uint8_t { kTreePlru, kLru };
enum class PrefetchChoice : uint8_t { kOff, kAdjacent };
enum class LinesChoice : uint8_t { kRemote, kLocal };
enum class KeyChoice : uint8_t { kSnoop, kCommand };
enum class LookupBChoice : uint8_t { kStrict, kLoad };
enum class LocksChoice : uint8_t { kOn, kOff };
enum class DispatchChoice : uint8_t { kTable, kBucket };
enum class FilterChoice : uint8_t { kOff, kOn };
enum class HashChoice : uint8_t { kAccelerator, kCommand };

// machine.toml says what each is.
struct Parameters {
  uint32_t clock_megahertz = 0;

  uint32_t core_issue_width = 0;
  uint32_t core_window = 0;
  uint32_t core_load_queue = 0;
  uint32_t core_store_queue = 0;
  uint32_t core_load_ports = 0;
  uint32_t core_forward_cycles = 0;
  uint32_t core_branch_cycles = 0;
  uint32_t core_snoop_cycles = 0;
  uint32_t core_lock_retry_cycles = 0;

  uint32_t l1d_bytes = 0;
  uint32_t l1d_ways = 0;
  uint32_t l1d_hit_cycles = 0;
  uint32_t l2_bytes = 0;
  uint32_t l2_ways = 0;
  uint32_t l2_hit_cycles = 0;
  uint32_t l2_misses_in_flight = 0;

  uint32_t llc_slice_bytes = 0;
  uint32_t llc_ways = 0;
  uint32_t llc_tag_cycles = 0;
  uint32_t llc_data_cycles = 0;
  uint32_t snoop_filter_sets = 0;
  uint32_t snoop_filter_ways = 0;

  uint32_t mesh_columns = 0;
  uint32_t mesh_rows = 0;
  uint32_t mesh_hop_cycles = 0;
  uint32_t mesh_request_cycles = 0;
  uint32_t mesh_fill_cycles = 0;

  uint32_t dram_channels = 0;
  uint32_t dram_banks = 0;
  uint32_t dram_row_bytes = 0;
  uint32_t dram_controller_cycles = 0;
  uint32_t dram_activate_cycles = 0;
  uint32_t dram_read_cycles = 0;
  uint32_t dram_precharge_cycles = 0;
  uint32_t dram_burst_cycles = 0;

  uint32_t accelerator_scoreboard = 0;
  uint32_t accelerator_metadata_lines = 0;
  uint32_t accelerator_command_queue = 0;
  uint32_t accelerator_result_queue = 0;
  uint32_t accelerator_metadata_cycles = 0;
  uint32_t accelerator_mask_cycles = 0;
  uint32_t accelerator_hash_cycles = 0;
  uint32_t accelerator_hash_bytes = 0;
  uint32_t accelerator_compare_cycles = 0;
  uint32_t accelerator_compare_bytes = 0;
  uint32_t accelerator_flow_bits = 0;

  uint32_t distributor_send_cycles = 0;
  uint32_t distributor_result_cycles = 0;

  uint32_t software_hash_cycles = 0;
  uint32_t software_search_cycles = 0;
  uint32_t software_compare_cycles = 0;
  uint32_t software_ten_instructions_cycles = 0;

  uint32_t neighbour_waiting_loads = 0;

  uint32_t hybrid_window_cycles = 0;
  uint32_t hybrid_flows_to_software = 0;
  uint32_t hybrid_flows_to_accelerator = 0;

  LlcPolicy llc = LlcPolicy::kVictim;
  ReplacementChoice replacement = ReplacementChoice::kTreePlru;
  PrefetchChoice prefetch = PrefetchChoice::kOff;
  LinesChoice lines = LinesChoice::kRemote;
  KeyChoice key = KeyChoice::kSnoop;
  LookupBChoice lookup_b = LookupBChoice::kStrict;
  LocksChoice locks = LocksChoice::kOn;
  LocksChoice lock_fetches = LocksChoice::kOn;
  DispatchChoice dispatch = DispatchChoice::kTable;
  FilterChoice filter = FilterChoice::kOff;
  HashChoice hash = HashChoice::kAccelerator;

  [[nodiscard]] uint32_t tiles() const { return mesh_columns * mesh_rows; }
};

// What is known of a number before a file is read.
struct ParameterInfo {
  std::string_view table;  // of the file
  std::string_view name;   // in that table
  uint32_t Parameters::*value;
  uint64_t min;
  uint64_t max;
  bool is_latency;  // a greater value makes nothing faster
};

// All numbers, in the order of the file.
[[nodiscard]] std::span<const ParameterInfo> parameter_infos();

enum class Level : uint8_t { kLow, kMiddle, kHigh };

// What the file says of a number.
struct ParameterRange {
  std::array<uint32_t, 3> values{};  // by Level
  std::string unit{};
  std::string source{};
};

// A machine file that was read.
struct MachineDescription {
  Parameters switches{};                 // its switches; no numbers
  std::vector<ParameterRange> ranges{};  // one of each of parameter_infos()

  // The machine with all numbers of a level.
  [[nodiscard]] Parameters at(Level level) const;
  // Has the numbers of a table of the file be in the middle at every level.
  void close(std::string_view table);
};

// Reads a machine file. Faults: not TOML, numbers or words missing, unknown or out of range, low
// above middle above high; a geometry that cannot be, at any of the three levels.
[[nodiscard]] config::Outcome<MachineDescription> parse_machine(std::string_view text);

// What cannot be of these numbers together: "llc.slice_bytes: ...".
struct GeometryFault {
  const ParameterInfo* parameter;
  std::string text;
};
[[nodiscard]] std::vector<GeometryFault> geometry_faults(const Parameters& parameters);

// The file that is compiled in, and the machine that it says, of middle values.
[[nodiscard]] std::string_view default_machine_text();
[[nodiscard]] const MachineDescription& default_machine();

}  // namespace roost::sim
