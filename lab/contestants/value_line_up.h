// Every value-only table, and what is measured beside them, by name.
#pragma once

#include <string_view>
#include <vector>

#include "lab/harness/any_value_table.h"

namespace roost::lab {

// Those that take keys of this type: words of 64 bits, or 5-tuples of 104.
template <class Key>
[[nodiscard]] const std::vector<ValueContestant<Key>>& value_line_up();
template <>
const std::vector<ValueContestant<uint64_t>>& value_line_up();
template <>
const std::vector<ValueContestant<traffic::Key104>>& value_line_up();

// Nothing if there is none of this name that takes these keys.
template <class Key>
[[nodiscard]] const ValueContestant<Key>* find_value_contestant(std::string_view name) {
  for (const ValueContestant<Key>& contestant : value_line_up<Key>())
    if (contestant.name == name) return &contestant;
  return nullptr;
}

}  // namespace roost::lab
