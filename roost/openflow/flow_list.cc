#include "roost/openflow/flow_list.h"

namespace roost::openflow {

FlowKey key_of(const Flow& flow) {
  return {.table = flow.table,
          .below_highest = static_cast<uint16_t>(UINT16_MAX - flow.match.priority),
          .mask = flow.match.mask,
          .value = flow.match.value};
}

bool is_within(const Flow& flow, const Flow& filter) {
  return (flow.match.mask & filter.match.mask) == filter.match.mask &&
         agree(flow.match.value, filter.match.value, filter.match.mask);
}

}  // namespace roost::openflow
