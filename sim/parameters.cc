#include "sim/parameters.h"

#include <bit>
#include <iterator>
#include <map>
#include <optional>

#include "roost/base/assert.h"
#include "roost/config/toml_table.h"

namespace roost::sim {

namespace {

constexpr ParameterInfo kInfos[] = {
    {"clock", "megahertz", &Parameters::clock_megahertz, 1, 10000, false},
    {"core", "issue_width", &Parameters::core_issue_width, 1, 16, false},
    {"core", "window", &Parameters::core_window, 1, 4096, false},
    {"core", "load_queue", &Parameters::core_load_queue, 1, 1024, false},
    {"core", "store_queue", &Parameters::core_store_queue, 1, 1024, false},
    {"core", "load_ports", &Parameters::core_load_ports, 1, 8, false},
    {"core", "forward_cycles", &Parameters::core_forward_cycles, 0, 100000, true},
    {"core", "branch_cycles", &Parameters::core_branch_cycles, 0, 100000, true},
    {"core", "snoop_cycles", &Parameters::core_snoop_cycles, 0, 100000, true},
    {"core", "lock_retry_cycles", &Parameters::core_lock_retry_cycles, 0, 100000, true},
    {"l1d", "bytes", &Parameters::l1d_bytes, 4096, 1048576, false},
    {"l1d", "ways", &Parameters::l1d_ways, 1, 32, false},
    {"l1d", "hit_cycles", &Parameters::l1d_hit_cycles, 0, 100000, true},
    {"l2", "bytes", &Parameters::l2_bytes, 32768, 67108864, false},
    {"l2", "ways", &Parameters::l2_ways, 1, 32, false},
    {"l2", "hit_cycles", &Parameters::l2_hit_cycles, 0, 100000, true},
    {"l2", "misses_in_flight", &Parameters::l2_misses_in_flight, 1, 256, false},
    {"llc", "slice_bytes", &Parameters::llc_slice_bytes, 32768, 268435456, false},
    {"llc", "ways", &Parameters::llc_ways, 1, 32, false},
    {"llc", "tag_cycles", &Parameters::llc_tag_cycles, 0, 100000, true},
    {"llc", "data_cycles", &Parameters::llc_data_cycles, 0, 100000, true},
    {"snoop_filter", "sets", &Parameters::snoop_filter_sets, 16, 1048576, false},
    {"snoop_filter", "ways", &Parameters::snoop_filter_ways, 1, 32, false},
    {"mesh", "columns", &Parameters::mesh_columns, 1, 8, false},
    {"mesh", "rows", &Parameters::mesh_rows, 1, 8, false},
    {"mesh", "hop_cycles", &Parameters::mesh_hop_cycles, 0, 100000, true},
    {"mesh", "request_cycles", &Parameters::mesh_request_cycles, 0, 100000, true},
    {"mesh", "fill_cycles", &Parameters::mesh_fill_cycles, 0, 100000, true},
    {"dram", "channels", &Parameters::dram_channels, 1, 32, false},
    {"dram", "banks", &Parameters::dram_banks, 1, 128, false},
    {"dram", "row_bytes", &Parameters::dram_row_bytes, 64, 65536, false},
    {"dram", "controller_cycles", &Parameters::dram_controller_cycles, 0, 100000, true},
    {"dram", "activate_cycles", &Parameters::dram_activate_cycles, 0, 100000, true},
    {"dram", "read_cycles", &Parameters::dram_read_cycles, 0, 100000, true},
    {"dram", "precharge_cycles", &Parameters::dram_precharge_cycles, 0, 100000, true},
    {"dram", "burst_cycles", &Parameters::dram_burst_cycles, 0, 100000, true},
    {"accelerator", "scoreboard", &Parameters::accelerator_scoreboard, 1, 64, false},
    {"accelerator", "metadata_lines", &Parameters::accelerator_metadata_lines, 1, 64, false},
    {"accelerator", "command_queue", &Parameters::accelerator_command_queue, 1, 64, false},
    {"accelerator", "result_queue", &Parameters::accelerator_result_queue, 1, 64, false},
    {"accelerator", "metadata_cycles", &Parameters::accelerator_metadata_cycles, 1, 100000, true},
    {"accelerator", "mask_cycles", &Parameters::accelerator_mask_cycles, 1, 100000, true},
    {"accelerator", "hash_cycles", &Parameters::accelerator_hash_cycles, 1, 100000, true},
    {"accelerator", "hash_bytes", &Parameters::accelerator_hash_bytes, 8, 64, false},
    {"accelerator", "compare_cycles", &Parameters::accelerator_compare_cycles, 1, 100000, true},
    {"accelerator", "compare_bytes", &Parameters::accelerator_compare_bytes, 8, 64, false},
    {"accelerator", "flow_bits", &Parameters::accelerator_flow_bits, 32, 4096, false},
    {"distributor", "send_cycles", &Parameters::distributor_send_cycles, 0, 100000, true},
    {"distributor", "result_cycles", &Parameters::distributor_result_cycles, 0, 100000, true},
    {"software", "hash_cycles", &Parameters::software_hash_cycles, 0, 1000, true},
    {"software", "search_cycles", &Parameters::software_search_cycles, 0, 1000, true},
    {"software", "compare_cycles", &Parameters::software_compare_cycles, 0, 1000, true},
    {"software", "ten_instructions_cycles", &Parameters::software_ten_instructions_cycles, 0, 1000,
     true},
    {"neighbour", "waiting_loads", &Parameters::neighbour_waiting_loads, 0, 10, false},
    {"hybrid", "window_cycles", &Parameters::hybrid_window_cycles, 100, 1073741824, false},
    {"hybrid", "flows_to_software", &Parameters::hybrid_flows_to_software, 1, 1048576, false},
    {"hybrid", "flows_to_accelerator", &Parameters::hybrid_flows_to_accelerator, 1, 1048576, false},
};

constexpr std::string_view kLevelNames[] = {"low", "middle", "high"};

// A word of [switches], and how it gets into the parameters.
struct SwitchInfo {
  std::string_view name;
  std::array<std::string_view, 2> choices;
  void (*set)(Parameters& parameters, size_t choice);
};

template <auto kMember>
void set_switch(Parameters& parameters, size_t choice) {
  using Choice = std::remove_reference_t<decltype(parameters.*kMember)>;
  parameters.*kMember = static_cast<Choice>(choice);
}

constexpr SwitchInfo kSwitches[] = {
    {"llc", {"victim", "inclusive"}, set_switch<&Parameters::llc>},
    {"replacement", {"tree-plru", "lru"}, set_switch<&Parameters::replacement>},
    {"prefetch", {"off", "adjacent"}, set_switch<&Parameters::prefetch>},
    {"lines", {"remote", "local"}, set_switch<&Parameters::lines>},
    {"key", {"snoop", "command"}, set_switch<&Parameters::key>},
    {"lookup_b", {"strict", "load"}, set_switch<&Parameters::lookup_b>},
    {"locks", {"on", "off"}, set_switch<&Parameters::locks>},
    {"lock_fetches", {"on", "off"}, set_switch<&Parameters::lock_fetches>},
    {"dispatch", {"table", "bucket"}, set_switch<&Parameters::dispatch>},
    {"filter", {"off", "on"}, set_switch<&Parameters::filter>},
    {"hash", {"accelerator", "command"}, set_switch<&Parameters::hash>},
};

constexpr std::string_view kNumberExample =
    R"({ unit = "cycles", low = 1, middle = 2, high = 3, source = "who says so" })";
constexpr std::string_view kSwitchExample =
    R"({ value = "on", choices = ["on", "off"], source = "who says so" })";

std::string required_text(config::TomlTable& table, std::string_view key) {
  table.require(key, R"("a few words")");
  return table.text(key).value_or("");
}

ParameterRange read_range(config::TomlTable& section, const ParameterInfo& info,
                          std::vector<config::Fault>& faults) {
  ParameterRange range;
  section.require(info.name, kNumberExample);
  const toml::table* toml = section.table(info.name);
  if (toml == nullptr) return range;
  config::TomlTable table(*toml, section.name() + " " + std::string(info.name), faults);
  range.unit = required_text(table, "unit");
  range.source = required_text(table, "source");
  for (size_t level = 0; level < std::size(kLevelNames); ++level) {
    table.require(kLevelNames[level], "1");
    const auto value = table.integer(kLevelNames[level], {info.min, info.max});
    range.values[level] = static_cast<uint32_t>(value.value_or(info.min));
  }
  table.refuse_unknown_keys();
  if (range.values[0] > range.values[1] || range.values[1] > range.values[2]) {
    section.fault_in(info.name, "low, middle and high are not in this order; exchange them");
  }
  return range;
}

void read_switch(config::TomlTable& section, const SwitchInfo& info, Parameters& parameters,
                 std::vector<config::Fault>& faults) {
  section.require(info.name, kSwitchExample);
  const toml::table* toml = section.table(info.name);
  if (toml == nullptr) return;
  config::TomlTable table(*toml, section.name() + " " + std::string(info.name), faults);
  (void)required_text(table, "source");
  table.array("choices");  // for the reader
  table.require("value", '"' + std::string(info.choices[0]) + '"');
  if (const auto choice = table.choice("value", info.choices)) info.set(parameters, *choice);
  table.refuse_unknown_keys();
}

// The tables of a file by name; each is opened once, and its keys that nothing reads are faults.
class Sections {
 public:
  Sections(config::TomlTable& top, std::vector<config::Fault>& faults)
      : top_(top), faults_(faults) {}

  // nullptr if the file does not have it, which is a fault.
  config::TomlTable* section(std::string_view name) {
    const auto found = sections_.find(name);
    if (found != sections_.end()) return found->second ? &*found->second : nullptr;
    auto& place = sections_[std::string(name)];
    top_.require(name, "a table");
    if (const toml::table* toml = top_.table(name))
      place.emplace(*toml, "[" + std::string(name) + "]", faults_);
    return place ? &*place : nullptr;
  }
  void refuse_unknown_keys() {
    for (auto& [name, section] : sections_) {
      if (section) section->refuse_unknown_keys();
    }
    top_.refuse_unknown_keys();
  }

 private:
  config::TomlTable& top_;
  std::vector<config::Fault>& faults_;
  std::map<std::string, std::optional<config::TomlTable>, std::less<>> sections_;
};

MachineDescription read_machine(config::TomlTable& top, std::vector<config::Fault>& faults) {
  MachineDescription machine;
  Sections sections(top, faults);
  for (const ParameterInfo& info : kInfos) {
    config::TomlTable* section = sections.section(info.table);
    machine.ranges.push_back(section == nullptr ? ParameterRange{}
                                                : read_range(*section, info, faults));
  }
  if (config::TomlTable* section = sections.section("switches")) {
    for (const SwitchInfo& info : kSwitches) read_switch(*section, info, machine.switches, faults);
    if (machine.switches.dispatch == DispatchChoice::kBucket &&
        machine.switches.hash != HashChoice::kCommand) {
      section->fault_in("dispatch",
                        "the bucket's line is not known without the hash; set hash to \"command\", "
                        "or dispatch to \"table\"");
    }
  }
  sections.refuse_unknown_keys();
  if (!faults.empty()) return machine;
  for (const Level level : {Level::kLow, Level::kMiddle, Level::kHigh}) {
    for (const GeometryFault& fault : geometry_faults(machine.at(level))) {
      sections.section(fault.parameter->table)->fault_in(fault.parameter->name, fault.text);
    }
    if (!faults.empty()) break;
  }
  return machine;
}

// What is said of the numbers of a cache.
struct CacheGeometry {
  uint32_t Parameters::*bytes;
  uint32_t Parameters::*ways;
};

const ParameterInfo* info_of(uint32_t Parameters::*value) {
  for (const ParameterInfo& info : kInfos) {
    if (info.value == value) return &info;
  }
  ROOST_ASSERT(false);
  return nullptr;
}

}  // namespace

std::span<const ParameterInfo> parameter_infos() { return kInfos; }

Parameters MachineDescription::at(Level level) const {
  Parameters parameters = switches;
  for (size_t i = 0; i < ranges.size(); ++i)
    parameters.*kInfos[i].value = ranges[i].values[static_cast<size_t>(level)];
  return parameters;
}

void MachineDescription::close(std::string_view table) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    auto& values = ranges[i].values;
    if (kInfos[i].table == table) values.fill(values[static_cast<size_t>(Level::kMiddle)]);
  }
}

std::vector<GeometryFault> geometry_faults(const Parameters& parameters) {
  std::vector<GeometryFault> faults;
  const auto fault = [&](uint32_t Parameters::*value, std::string text) {
    faults.push_back({info_of(value), std::move(text)});
  };
  constexpr CacheGeometry kCaches[] = {{&Parameters::l1d_bytes, &Parameters::l1d_ways},
                                       {&Parameters::l2_bytes, &Parameters::l2_ways},
                                       {&Parameters::llc_slice_bytes, &Parameters::llc_ways}};
  for (const auto& [bytes, ways] : kCaches) {
    const uint32_t way_bytes = parameters.*bytes / parameters.*ways;
    if (way_bytes * (parameters.*ways) != parameters.*bytes || way_bytes < 64 ||
        !std::has_single_bit(way_bytes)) {
      fault(bytes, std::to_string(parameters.*bytes) + " bytes in " +
                       std::to_string(parameters.*ways) +
                       " ways are no power of two of sets of lines; give ways times a power of "
                       "two from 64 up");
    }
  }
  if (!std::has_single_bit(parameters.snoop_filter_sets))
    fault(&Parameters::snoop_filter_sets, "no power of two; give one");
  if (!std::has_single_bit(parameters.tiles()) || parameters.tiles() > 16) {
    fault(&Parameters::mesh_rows, std::to_string(parameters.tiles()) +
                                      " tiles; give columns and rows whose product is 1, 2, 4, 8 "
                                      "or 16");
  }
  if (!std::has_single_bit(parameters.dram_row_bytes))
    fault(&Parameters::dram_row_bytes, "no power of two; give one");
  if (!std::has_single_bit(parameters.accelerator_flow_bits))
    fault(&Parameters::accelerator_flow_bits, "no power of two; give one");
  if (parameters.l2_hit_cycles < parameters.l1d_hit_cycles)
    fault(&Parameters::l2_hit_cycles, "less than l1d.hit_cycles; L2 is asked behind L1D");
  if (parameters.accelerator_scoreboard > 32)
    fault(&Parameters::accelerator_scoreboard, "more than 32; give fewer");
  if (parameters.hybrid_flows_to_software >= parameters.hybrid_flows_to_accelerator) {
    fault(&Parameters::hybrid_flows_to_software,
          "not below flows_to_accelerator; estimates would switch back and forth");
  }
  return faults;
}

config::Outcome<MachineDescription> parse_machine(std::string_view text) {
  return config::parse(text, read_machine);
}

const MachineDescription& default_machine() {
  static const MachineDescription machine = [] {
    auto outcome = parse_machine(default_machine_text());
    ROOST_ASSERT(outcome.config.has_value());
    return *std::move(outcome.config);
  }();
  return machine;
}

}  // namespace roost::sim
