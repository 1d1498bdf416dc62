// All flows of a run, as they are listed and told apart: by table, falling priority, and match.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "roost/classify/packet_fields.h"
#include "roost/openflow/flow.h"
#include "roost/openflow/flow_tables.h"

namespace roost::openflow {

struct FlowKey {
  uint8_t table = 0;
  uint16_t below_highest = 0;  // 65,535 less the priority
  classify::PacketFields mask{};
  classify::PacketFields value{};

  auto operator<=>(const FlowKey&) const = default;
};
[[nodiscard]] FlowKey key_of(const Flow& flow);

struct ListedFlow {
  Flow flow{};
  std::vector<FlowId> ids{};                     // of each worker
  classify::RuleTable::Counts counted_before{};  // in tables that are gone
};
using FlowList = std::map<FlowKey, ListedFlow>;

// Whether a flow matches no more than `filter` does, by the fields alone, as `ovs-ofctl` chooses
// flows to dump or delete.
[[nodiscard]] bool is_within(const Flow& flow, const Flow& filter);

}  // namespace roost::openflow
