// What a roost_config asks for, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "capi/roost_types.h"
#include "capi/table.h"
#include "roost/base/result.h"
#include "roost/table/policies.h"
#include "roost/table/table_image.h"

namespace roost::capi {

struct TablePlan {
  Shape shape;
  LayoutChoice layout;    // never kAutomatic
  unsigned inline_slots;  // slots of an inline bucket, 2 or 3
  bool is_shared;         // whether readers are there while it changes: of packed tables
  TableConfig config;
  roost_on_expiry on_expiry;
  void* on_expiry_context;
};

// Reads a caller's configuration, of whatever size. Errors are sentences that name the field.
[[nodiscard]] Result<TablePlan> plan_of(const roost_config& config);

// The same for a table that is to be created: a plan that there is can only fail for lack of
// memory.
[[nodiscard]] Result<TablePlan> creation_plan_of(const roost_config& config);

}  // namespace roost::capi
