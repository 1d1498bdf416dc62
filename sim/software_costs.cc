#include "sim/software_costs.h"

#include <cstdlib>
#include <utility>

#include "roost/base/assert.h"
#include "roost/config/toml_table.h"

namespace roost::sim {

namespace {

constexpr std::string_view kCountsExample = "{ instructions = 150, loads = 50, stores = 20 }";

double read_count(config::TomlTable& table, std::string_view name) {
  table.require(name, "1.5");
  const double count = table.number(name).value_or(0);
  if (!(count >= 0 && count <= 10'000)) table.fault_in(name, "not from 0 to 10000");
  return count;
}

InstructionCounts read_counts(config::TomlTable& way, std::string_view name,
                              std::vector<config::Fault>& faults) {
  way.require(name, kCountsExample);
  const toml::table* toml = way.table(name);
  if (toml == nullptr) return {};
  config::TomlTable table(*toml, way.name() + " " + std::string(name), faults);
  const InstructionCounts counts{.instructions = read_count(table, "instructions"),
                                 .loads = read_count(table, "loads"),
                                 .stores = read_count(table, "stores")};
  table.refuse_unknown_keys();
  if (counts.loads + counts.stores > counts.instructions)
    way.fault_in(name, "more accesses to memory than instructions");
  return counts;
}

SoftwareCost read_way(const toml::table& toml, std::vector<config::Fault>& faults) {
  config::TomlTable table(toml, "[[way]]", faults);
  for (const std::string_view name : {"name", "version"}) table.require(name, "\"rte_hash_one\"");
  for (const std::string_view name : {"keys_a_call", "key_bytes"}) table.require(name, "16");
  (void)table.text("version");  // for the reader
  SoftwareCost cost{
      .name = table.text("name").value_or(""),
      .keys_a_call = static_cast<uint32_t>(table.integer("keys_a_call", {1, 64}).value_or(1)),
      .key_bytes = static_cast<uint32_t>(table.integer("key_bytes", {1, 64}).value_or(1)),
      .hit = read_counts(table, "hit", faults),
      .miss = read_counts(table, "miss", faults)};
  table.refuse_unknown_keys();
  return cost;
}

std::vector<SoftwareCost> read_costs(config::TomlTable& top, std::vector<config::Fault>& faults) {
  std::vector<SoftwareCost> costs;
  top.require("measured_by", "\"valgrind\"");
  (void)top.text("measured_by");
  top.require("way", "[[way]]");
  if (const toml::array* ways = top.array("way")) {
    for (const toml::node& way : *ways) {
      if (const toml::table* table = way.as_table()) {
        costs.push_back(read_way(*table, faults));
      } else {
        top.fault_in("way", "not a list of tables; write [[way]]");
      }
    }
  }
  top.refuse_unknown_keys();
  return costs;
}

uint32_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

}  // namespace

config::Outcome<std::vector<SoftwareCost>> parse_software_costs(std::string_view text) {
  return config::parse(text, read_costs);
}

std::span<const SoftwareCost> software_costs() {
  static const std::vector<SoftwareCost> costs = [] {
    auto outcome = parse_software_costs(software_costs_text());
    ROOST_ASSERT(outcome.config.has_value());
    return *std::move(outcome.config);
  }();
  return costs;
}

const SoftwareCost* software_cost(std::string_view name, uint32_t key_bytes) {
  const SoftwareCost* nearest = nullptr;
  for (const SoftwareCost& cost : software_costs()) {
    if (cost.name == name && (nearest == nullptr || distance(cost.key_bytes, key_bytes) <
                                                        distance(nearest->key_bytes, key_bytes))) {
      nearest = &cost;
    }
  }
  return nearest;
}

}  // namespace roost::sim
