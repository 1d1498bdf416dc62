#include "capi/table_class.h"

#include <cstddef>

#include "roost/table/entry.h"

namespace roost::capi {

TableClass table_class_of(const TablePlan& plan) {
  if (plan.layout == LayoutChoice::kPacked)
    return plan.is_shared ? shared_packed_table_class() : packed_table_class();
  const size_t padded_bytes = padded_key_bytes(plan.shape.key_bytes);
  if (plan.layout == LayoutChoice::kInline) {
    if (plan.inline_slots == 2)
      return padded_bytes == 8 ? inline_table_class<8, 2>() : inline_table_class<16, 2>();
    return padded_bytes == 8 ? inline_table_class<8, 3>() : inline_table_class<16, 3>();
  }
  switch (padded_bytes) {
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
