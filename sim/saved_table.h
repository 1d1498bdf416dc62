// The bytes of a table that is to be saved, or put into simulated memory (docs/decisions/0053).
#pragma once

#include <cstddef>
#include <span>

#include "roost/table/flow_table.h"
#include "sim/paper_table.h"

namespace roost::sim {

// All of a table, with its header: FlowTable::adopt() finds it again in a copy. Valid until the
// table changes.
template <class Key, class Value, class Policies>
[[nodiscard]] std::span<const std::byte> image_of(const FlowTable<Key, Value, Policies>& table) {
  return {table.core().arena().data(), table.core().image_bytes()};
}
[[nodiscard]] inline std::span<const std::byte> image_of(const PaperTable& table) {
  return table.image();
}

}  // namespace roost::sim
