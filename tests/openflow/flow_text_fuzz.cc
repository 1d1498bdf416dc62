// Any bytes as flows: what is taken is printed, and what is printed is taken as the same flow.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/assert.h"
#include "roost/openflow/flow_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost::openflow;
  std::vector<roost::config::Fault> faults;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Flow& flow : parse_flows(text, faults)) {
    std::string again = "table=" + std::to_string(flow.table) + ",";
    again += "cookie=" + std::to_string(flow.cookie) + "," + format_match(flow);
    again += " actions=" + format_actions(flow);
    std::vector<roost::config::Fault> none;
    const std::vector<Flow> flows = parse_flows(again, none);
    ROOST_ASSERT(none.empty() && flows.size() == 1);
    ROOST_ASSERT(flows[0].match.mask == flow.match.mask &&
                 flows[0].match.value == flow.match.value);
    ROOST_ASSERT(flows[0].match.priority == flow.match.priority);
    ROOST_ASSERT(flows[0].actions == flow.actions && flows[0].table == flow.table);
  }
  return 0;
}
