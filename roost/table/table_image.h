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
#include "roost/table/layout.h"

namespace roost {

struct TableConfig {
  // Wanted number of slots, at least two buckets of them, and rounded up to a multiple of that: 16
  // in the split layout, 4 or 6 in the inline one. With entries_max it may be left out.
  uint64_t capacity = 0;

  // A promise: an insert is not refused while the table holds fewer entries than this. A stash of
  // 16 or 48 slots takes the entries that find no place. The promise holds for keys that were not
  // chosen with knowledge of the hash seed: keys of one hash share two buckets and the stash. At
  // most 95 % of the capacity (inline layout: 85 % with two slots a bucket, 90 % with three);
  // without a capacity, the table takes the one it needs.
  uint64_t entries_max = 0;

  // Fixed for runs that must repeat; random when absent, so that keys cannot be chosen to
  // collide.
  std::optional<uint64_t> hash_seed{};

  // Memory to use instead of the table's own arena: aligned to 64 bytes, at least
  // FlowTable::bytes_to_lend() of it, kept alive by the caller.
  std::span<std::byte> memory{};

  // The only kind of page to take, instead of the largest available.
  std::optional<PageKind> pages{};

  // The NUMA node to take memory from, instead of what the system's policy says.
  std::optional<unsigned> numa_node{};

  // The kernel to use instead of the best one here.
  std::optional<Isa> isa{};

  // Where to prefetch lines to, instead of what lookups show to be fastest (hint_choice.h).
  std::optional<PrefetchHint> line_hint{};
};

// What a table's layout and probing policy say of its buckets.
struct BucketShape {
  unsigned slots;        // slots a bucket
  double promised_load;  // load up to which a table with a stash can promise to accept entries
};

// The buckets that a table of this configuration has. Errors: a capacity out of range, or too small
// for what is promised.
[[nodiscard]] Result<BucketCounts> bucket_counts(const TableConfig& config, BucketShape shape);

struct TableImage {
  Arena arena;
  BucketCounts buckets;
  uint64_t entries_max;
  PrefetchHint first_hint;  // where to prefetch lines to until lookups show what is best

  // Checks the configuration and gets the memory: `image_bytes(counts)` tells how much.
  template <class ImageBytes>
  [[nodiscard]] static Result<TableImage> create(const TableConfig& config, BucketShape shape,
                                                 ImageBytes&& image_bytes) {
    const Result<BucketCounts> counts = bucket_counts(config, shape);
    if (!counts) return counts.error();
    return create(config, counts.value(), image_bytes(counts.value()));
  }

 private:
  static Result<TableImage> create(const TableConfig& config, BucketCounts buckets, uint64_t bytes);
};

}  // namespace roost
