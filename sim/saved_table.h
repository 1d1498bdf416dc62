// Saved tables, as the simulator takes them (docs/decisions/0053).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/base/result.h"
#include "roost/table/save_table.h"
#include "sim/paper_table.h"
#include "sim/table_format.h"

namespace roost::sim {

// All of a table, with its header. Valid until the table changes.
[[nodiscard]] inline std::span<const std::byte> image_of(const PaperTable& table) {
  return table.image();
}

// What is known of a table whose every key is where its hash leads.
struct AuditedTable {
  TableMetadata metadata{};  // as at the address of the audit
  uint64_t entries = 0;
  KeyBytes some_key{};  // of one that has entries
};

// Checks all of an image. Time linear in it; takes as much memory meanwhile. Errors: put_table()
// refuses it; an entry is where its key does not lead.
[[nodiscard]] Result<AuditedTable> audit_image(std::span<const std::byte> image);

// The keys of an image in a table of the paper's format with at least as many slots, in buckets
// that are a power of two: what rte_hash would hold of them. Errors: as put_table().
[[nodiscard]] Result<PaperTable> paper_table_of(std::span<const std::byte> image);

}  // namespace roost::sim
