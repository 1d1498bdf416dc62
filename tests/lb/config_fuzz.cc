// Any bytes as a configuration file: taken or refused, never a crash; a refused one names a line of
// the file and what to do, an accepted one is usable.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "apps/lb/config/config.h"
#include "roost/base/assert.h"
#include "roost/l3/next_hops.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const lb::ConfigOutcome outcome = lb::parse_config(text);
  ROOST_ASSERT(outcome.config.has_value() == outcome.faults.empty());
  const auto line_count = static_cast<uint32_t>(1 + std::ranges::count(text, '\n'));
  for (const config::Fault& fault : outcome.faults) {
    ROOST_ASSERT(fault.line >= 1 && fault.line <= line_count);
    ROOST_ASSERT(fault.text.find(';') != std::string::npos);
    const auto is_control = [](char c) { return c >= 0 && c < ' '; };
    ROOST_ASSERT(std::ranges::none_of(fault.text, is_control));
  }
  if (outcome.config) {
    const std::vector<net::MacAddress> macs(outcome.config->network.ports.size(),
                                            {{2, 0, 0, 0, 0, 1}});
    const auto next_hops = l3::NextHops::create({.network = outcome.config->network,
                                                 .device_macs = macs,
                                                 .tick_seconds = outcome.config->tick_seconds()});
    ROOST_ASSERT(next_hops.ok());  // what the reader accepts, a network can be made of
    for (const lb::ServiceConfig& service : outcome.config->services) {
      for (const lb::BackendConfig& backend : service.backends) {
        ROOST_ASSERT(next_hops.value().is_reachable(backend.address));
      }
    }
  }
  return 0;
}
