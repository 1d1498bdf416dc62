// Saves a table as a file: the bytes of its memory, which say themselves what they are
// (image_header.h, docs/decisions/0053).
//
//   if (const auto error = save_table(flows, "flows.table")) give_up(error->message);
//
// FlowTable::adopt() finds the table again in memory that the file was read into, and `roost-halo`
// looks keys up in it. Of a table that others read meanwhile, its writer saves it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "roost/base/result.h"
#include "roost/memory/whole_file.h"
#include "roost/table/flow_table.h"

namespace roost {

// All of a table, with its header. Valid until the table changes.
template <class Key, class Value, class Policies>
[[nodiscard]] std::span<const std::byte> image_of(const FlowTable<Key, Value, Policies>& table) {
  return {table.core().arena().data(), table.core().image_bytes()};
}

// In the place of a file that is there, when all of it is on the disk. Time linear in the table.
// Errors: it cannot be written; then what was there is there still.
template <class Key, class Value, class Policies>
[[nodiscard]] std::optional<Error> save_table(const FlowTable<Key, Value, Policies>& table,
                                              const std::string& path) {
  return write_whole(path, image_of(table));
}

}  // namespace roost
