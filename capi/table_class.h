// The six key classes, split or inline, and how tables of each are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "capi/table.h"
#include "capi/table_plan.h"
#include "roost/base/result.h"
#include "roost/table/entry.h"

namespace roost::capi {

struct TableClass {
  // Bytes of memory to lend to the plan's table.
  uint64_t (*bytes)(const TablePlan& plan);
  // Makes an empty table. The only errors of a plan: memory is not to be had, or does not do.
  Result<std::unique_ptr<roost_table>> (*make)(const TablePlan& plan);
};

// One source file a class instantiates this (sized_table.h), so that they compile side by side.
template <size_t kClassBytes>
[[nodiscard]] TableClass table_class();

// The same for the inline layout, 2 or 3 slots a bucket: classes of 8 and 16 bytes.
template <size_t kClassBytes, unsigned kSlots>
[[nodiscard]] TableClass inline_table_class();

// The class of the plan's table.
[[nodiscard]] inline TableClass table_class_of(const TablePlan& plan) {
  const size_t class_bytes = key_class(plan.shape.key_bytes);
  if (plan.inline_slots == 2)
    return class_bytes == 8 ? inline_table_class<8, 2>() : inline_table_class<16, 2>();
  if (plan.inline_slots == 3)
    return class_bytes == 8 ? inline_table_class<8, 3>() : inline_table_class<16, 3>();
  switch (class_bytes) {
    case 8:
      return table_class<8>();
    case 16:
      return table_class<16>();
    case 24:
      return table_class<24>();
    case 32:
      return table_class<32>();
    case 40:
      return table_class<40>();
    default:
      return table_class<64>();
  }
}

}  // namespace roost::capi
