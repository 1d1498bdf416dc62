// Any bytes as a configuration file: taken or refused, never a crash; a refused one names a line of
// the file and what to do.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "apps/nat/config/config.h"
#include "roost/base/assert.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nat::ConfigOutcome read = nat::parse_config(text);
  ROOST_ASSERT(read.config.has_value() == read.faults.empty());
  const auto lines = 1 + std::ranges::count(text, '\n');
  ROOST_ASSERT(std::ranges::all_of(read.faults, [&](const config::Fault& fault) {
    return fault.line >= 1 && fault.line <= lines && fault.text.find(';') != std::string::npos;
  }));
  if (!read.config) return 0;
  // What the reader accepts has ports on both sides, and forwards of its own addresses.
  const nat::Config& config = *read.config;
  ROOST_ASSERT(std::ranges::any_of(config.network.ports, &l3::PortConfig::is_inside));
  ROOST_ASSERT(std::ranges::all_of(config.forwards, [&](const conntrack::StaticMapping& forward) {
    return std::ranges::find(config.external, forward.external.address) != config.external.end();
  }));
  ROOST_ASSERT(nat::refused_changes(config, config).empty());
  return 0;
}
