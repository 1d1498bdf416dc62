// The six sizes of padded keys, split, inline or packed, and how tables of each are created.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "capi/table.h"
#include "capi/table_plan.h"
#include "roost/base/result.h"

namespace roost::capi {

using CreatedTable = Result<std::unique_ptr<roost_table>>;

struct TableClass {
  // Bytes of memory to lend to the plan's table.
  uint64_t (*bytes)(const TablePlan& plan);
  // Creates an empty table. The only errors of a plan: memory is unavailable, or does not do.
  CreatedTable (*create)(const TablePlan& plan);
  // Finds the table that is in the memory lent. Errors: it holds no such table, or not all of it.
  CreatedTable (*adopt)(const TablePlan& plan);
};

// One source file a class instantiates this (sized_table.h), so that they compile side by side.
template <size_t kPaddedBytes>
[[nodiscard]] TableClass table_class();

// The same for the inline layout, 2 or 3 slots a bucket: classes of 8 and 16 bytes.
template <size_t kPaddedBytes, unsigned kSlots>
[[nodiscard]] TableClass inline_table_class();

// The same for the packed layout; its keys have a padded size of 8 bytes.
[[nodiscard]] TableClass packed_table_class();
[[nodiscard]] TableClass shared_packed_table_class();

// The class of the plan's table. In a source file of its own: where the class's functions are
// instantiated, a call of the others would instantiate them all.
[[nodiscard]] TableClass table_class_of(const TablePlan& plan);

}  // namespace roost::capi
