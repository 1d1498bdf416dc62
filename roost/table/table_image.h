// A table's memory and the settings that do not depend on key and value types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "roost/base/result.h"
#include "roost/isa/isa.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"
#include "roost/table/image_header.h"
#include "roost/table/layout.h"

namespace roost {

struct TableConfig {
  // Wanted number of slots, at least two buckets of them, and rounded up to a multiple of that: 16
  // in the split and packed layouts, 4 or 6 in the inline one. The packed layout needs more: 32 for
  // keys of 48 bits, 131,072 for 60. With entries_max it may be left out.
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

  // Of a table that readers share with its writer: how many counters its buckets share, a power of
  // two. With more, less often does a change elsewhere make a reader search again.
  uint64_t version_counters = 8'192;

  // Where to prefetch lines to, instead of what lookups show to be fastest (hint_choice.h).
  std::optional<PrefetchHint> line_hint{};
};

// What a table's layout and policies say of its buckets and entries.
struct BucketShape {
  unsigned slots;        // slots a bucket
  double promised_load;  // load up to which a table with a stash can promise to accept entries
  uint64_t buckets_min = 2;
};
struct EntryShape {
  std::string_view layout;  // by name, as in ImageIdentity::kind
  std::string_view probing;
  std::string_view hash;
  unsigned key_bits;
  size_t value_bytes;
  bool expires;
};

// The buckets that a table of this configuration has. Errors: a capacity out of range, or too small
// for what is promised.
[[nodiscard]] Result<BucketCounts> bucket_counts(const TableConfig& config, BucketShape shape);

// A table's memory: the header, and the layout's bytes behind it.
struct TableImage {
  Arena arena;
  PrefetchHint first_hint;  // where to prefetch lines to until lookups show what is best

  // Checks the configuration, gets the memory and writes the header. `bytes_of(counts)` tells how
  // much the layout takes.
  template <class BytesOf>
  [[nodiscard]] static Result<TableImage> create(const TableConfig& config, BucketShape shape,
                                                 const EntryShape& entry, BytesOf&& bytes_of) {
    const Result<BucketCounts> counts = bucket_counts(config, shape);
    if (!counts) return counts.error();
    return create(config, identity_of(shape, entry, counts.value(), bytes_of(counts.value())));
  }

  // Finds the table in config.memory. Errors: the memory holds none, one of another kind, or only a
  // part of it; more is configured than memory, kernel and hint.
  template <class BytesOf>
  [[nodiscard]] static Result<TableImage> adopt(const TableConfig& config, BucketShape shape,
                                                const EntryShape& entry, BytesOf&& bytes_of) {
    const Result<BucketCounts> counts = buckets_in(config);
    if (!counts) return counts.error();
    return adopt(config, identity_of(shape, entry, counts.value(), bytes_of(counts.value())));
  }

  [[nodiscard]] ImageHeader& header() { return *reinterpret_cast<ImageHeader*>(arena.data()); }
  [[nodiscard]] const ImageHeader& header() const {
    return *reinterpret_cast<const ImageHeader*>(arena.data());
  }
  // The layout's bytes.
  [[nodiscard]] std::byte* buckets() const { return arena.data() + sizeof(ImageHeader); }

 private:
  static ImageIdentity identity_of(BucketShape shape, const EntryShape& entry, BucketCounts counts,
                                   uint64_t layout_bytes);
  static Result<BucketCounts> buckets_in(const TableConfig& config);
  static Result<TableImage> create(const TableConfig& config, ImageIdentity identity);
  static Result<TableImage> adopt(const TableConfig& config, ImageIdentity identity);
};

}  // namespace roost
