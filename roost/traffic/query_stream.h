// A stream of queries, made before anything is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "roost/traffic/key_source.h"

namespace roost::traffic {

struct StreamShape {
  // The keys that are inserted: those with indices from first_entry on. Hits are drawn from them,
  // with repetition.
  uint64_t first_entry = 0;
  uint64_t entry_count;
  size_t query_count;
  double miss_ratio;         // exact share of absent keys, at random positions
  double zipf_exponent = 0;  // of the hits: the i-th key has rank i + 1; 0 draws evenly
};

// The same source and shape give the same stream.
[[nodiscard]] std::vector<Key128> query_stream(const KeySource& keys, const StreamShape& shape);

}  // namespace roost::traffic
