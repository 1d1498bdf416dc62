#include "lab/store/stores.h"

#include <algorithm>
#include <array>

#include "lab/contestants/boost_flat_map.h"
#include "lab/contestants/chained_map.h"
#include "lab/contestants/std_unordered_map.h"
#include "lab/contestants/tsl_hopscotch_map.h"
#include "lab/contestants/tsl_robin_map.h"
#include "lab/store/flow_table_index.h"
#include "lab/store/flow_table_values.h"
#include "lab/store/map_index.h"
#include "lab/store/map_values.h"
#include "lab/store/rte_hash_index.h"
#include "lab/store/rte_hash_values.h"
#include "roost/base/assert.h"

namespace roost::lab {
namespace {

using Key = net::FlowKey4;

template <class Traits>
StoreKind map_kind() {
  return {Traits::kName, make_index<MapIndex<Traits, Key>>,
          make_small_values<MapValues<Traits, Key>>};
}

const std::array kKinds = {
    StoreKind{"roost_split", make_index<FlowTableIndex<Key, SplitPolicies>>,
              make_small_values<FlowTableValues<Key>>},
    StoreKind{"roost_inline", make_index<FlowTableIndex<Key>>,
              make_small_values<FlowTableValues<Key>>},
    StoreKind{"rte_hash", make_index<RteHashIndex<Key>>, make_small_values<RteHashValues<Key>>},
    map_kind<ChainedMap>(),
    map_kind<StdUnorderedMap>(),
    map_kind<TslHopscotchMap>(),
    map_kind<TslRobinMap>(),
    map_kind<BoostFlatMap>(),
};

}  // namespace

std::span<const StoreKind> store_kinds() { return kKinds; }

const StoreKind& store_kind(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &StoreKind::name);
  ROOST_ASSERT(found != kKinds.end());
  return *found;
}

Result<std::unique_ptr<Index<net::FlowKey6>>> make_unused_index(const TableConfig& config) {
  return make_index<MapIndex<StdUnorderedMap, net::FlowKey6>>(config);
}

Result<std::unique_ptr<SmallValues<net::FlowKey6>>> make_unused_values(const TableConfig& config) {
  return make_small_values<MapValues<StdUnorderedMap, net::FlowKey6>>(config);
}

}  // namespace roost::lab
