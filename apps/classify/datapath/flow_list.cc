#include "apps/classify/datapath/flow_list.h"

namespace roost::classifying {

FlowKey key_of(const openflow::Flow& flow) {
  return {.table = flow.table,
          .below_highest = static_cast<uint16_t>(UINT16_MAX - flow.match.priority),
          .mask = flow.match.mask,
          .value = flow.match.value};
}

bool is_within(const openflow::Flow& flow, const openflow::Flow& filter) {
  return (flow.match.mask & filter.match.mask) == filter.match.mask &&
         agree(flow.match.value, filter.match.value, filter.match.mask);
}

}  // namespace roost::classifying
