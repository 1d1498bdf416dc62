// Tables of small values that several threads share, each through a view of its own.
//
// They are made of tables that one thread may use by a lock around them (CT-03), or have their own
// means: rte_hash with its reader-writer lock (LB) or without (LF), chains with a lock each, our
// SharedTable, libcuckoo, TBB.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/store/plain_table.h"
#include "roost/base/result.h"
#include "roost/net/flow_key.h"

namespace roost::lab {

// The views of one table, one a thread; they keep it alive together.
using CommonViews = std::vector<std::unique_ptr<SmallValues<net::FlowKey4>>>;

// A view of what is held, for each of so many threads.
template <class View, class Held>
CommonViews views_of(const std::shared_ptr<Held>& held, size_t threads) {
  CommonViews views;
  for (size_t thread = 0; thread < threads; ++thread) views.push_back(std::make_unique<View>(held));
  return views;
}

struct SharingKind {
  std::string name;  // of the table, and how it is shared: "chained_map spinlock"
  std::function<Result<CommonViews>(const TableConfig& config, size_t threads)> make;
};

// All there are; those of DPDK need a started Eal.
[[nodiscard]] std::span<const SharingKind> sharing_kinds();

}  // namespace roost::lab
