// A table's memory and the settings that do not depend on key and value types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/base/result.h"
#include "roost/isa/isa.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"

namespace roost {

struct TableConfig {
  // Wanted number of slots, at least 16; rounded up to two whole buckets (a multiple of 16).
  uint64_t capacity = 0;

  // Fixed for runs that must repeat; random when absent, so that nobody can choose keys that
  // collide.
  std::optional<uint64_t> hash_seed{};

  // Memory to use instead of the table's own arena: aligned to 64 bytes, at least
  // table_image_bytes() of it, kept alive by the caller.
  std::span<std::byte> memory{};

  // The only kind of page to take, instead of the largest that can be had.
  std::optional<PageKind> pages{};

  // The kernel to use instead of the best one here.
  std::optional<Isa> isa{};
};

struct TableImage {
  Arena arena;
  uint64_t bucket_count;
  PrefetchHint prefetch_hint;

  // Checks the configuration and gets the memory for buckets of `bucket_bytes` bytes.
  [[nodiscard]] static Result<TableImage> create(const TableConfig& config, uint64_t bucket_bytes);
};

}  // namespace roost
