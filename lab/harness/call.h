// How a table is called by the driver, and what such a call is named in reports.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "lab/harness/contestant.h"

namespace roost::lab {

// So many keys a call, and whether the next call's keys are named.
struct Call {
  size_t lanes;
  bool names_next = false;
};
inline constexpr Call kPlainCall = {.lanes = 32};

// The name of a call in reports; nothing when the table does not take it. Tables that answer one by
// one take the plain call alone.
template <class Table>
[[nodiscard]] std::optional<std::string> form_of(Call call) {
  if constexpr (OneByOne<Table>) {
    if (call.lanes != kPlainCall.lanes || call.names_next) return std::nullopt;
    return "one by one";
  } else {
    size_t lanes_max = kLanesMax;
    if constexpr (requires { Table::kLanesPerCallMax; }) lanes_max = Table::kLanesPerCallMax;
    if (call.lanes > lanes_max || (call.names_next && !HasAheadView<Table>)) return std::nullopt;
    const std::string lanes = std::to_string(call.lanes);
    return lanes + " keys" + (call.names_next ? " and the next " + lanes + " named" : " a call");
  }
}

// Calls use(the table, or the view that is told the next keys).
template <class Table, class Use>
auto with_view(Table& table, Call call, Use&& use) {
  if constexpr (HasAheadView<Table>) {
    if (call.names_next) {
      typename Table::Ahead view(table);
      return use(view);
    }
  }
  return use(table);
}

}  // namespace roost::lab
