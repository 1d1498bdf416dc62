#include "lab/store/common_values.h"

#include <shared_mutex>
#include <string_view>
#include <utility>

#include "lab/store/concurrent_maps.h"
#include "lab/store/locked_chains.h"
#include "lab/store/locked_values.h"
#include "lab/store/rte_hash_common.h"
#include "lab/store/stores.h"
#include "lab/store/urcu_values.h"

namespace roost::lab {
namespace {

using Key = net::FlowKey4;

template <class Lock>
SharingKind locked(const StoreKind& store, std::string_view lock) {
  const auto make = [&store](const TableConfig& config, size_t threads) -> Result<CommonViews> {
    using View = LockedValues<Key, Lock>;
    auto table = store.make_values(config);
    if (!table) return table.error();
    auto held = std::make_shared<typename View::Held>();
    held->table = std::move(table).value();
    return views_of<View>(held, threads);
  };
  return {std::string(store.name) + " " + std::string(lock), make};
}

template <uint8_t kFlags>
Result<CommonViews> make_rte_hash_common(const TableConfig& config, size_t threads) {
  return RteHashCommon<Key>::create(kFlags, config, threads);
}

std::vector<SharingKind> all_kinds() {
  std::vector<SharingKind> kinds = {
      {"roost shared", SharedTableValues<Key>::create},
      {"rte_hash LF", make_rte_hash_common<RteHashCommon<Key>::kLockFree>},
      {"rte_hash LB", make_rte_hash_common<RteHashCommon<Key>::kLocked>},
      {"chained_map hierarchical", LockedChains<Key>::create},
      {"libcuckoo own", ConcurrentMapValues<LibcuckooValues<Key>>::create},
      {"tbb own", ConcurrentMapValues<TbbValues<Key>>::create},
      {"urcu own", ConcurrentMapValues<UrcuValues<Key>>::create}};
  for (const StoreKind& store : store_kinds()) {
    kinds.push_back(locked<Spinlock>(store, "spinlock"));
    kinds.push_back(locked<std::shared_mutex>(store, "mutex"));
  }
  return kinds;
}

}  // namespace

std::span<const SharingKind> sharing_kinds() {
  static const std::vector<SharingKind> kinds = all_kinds();
  return kinds;
}

}  // namespace roost::lab
