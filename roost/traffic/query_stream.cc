#include "roost/traffic/query_stream.h"

#include <bit>
#include <cmath>
#include <utility>

#include "roost/traffic/zipf.h"

namespace roost::traffic {

std::vector<Key128> query_stream(const KeySource& keys, const StreamShape& shape) {
  Draw draw(mix(keys.seed() ^ shape.entry_count) ^ std::bit_cast<uint64_t>(shape.miss_ratio));
  const Zipf zipf(shape.entry_count, shape.zipf_exponent);
  const auto miss_count =
      static_cast<size_t>(std::llround(static_cast<double>(shape.query_count) * shape.miss_ratio));
  std::vector<Key128> queries;
  queries.reserve(shape.query_count);
  for (size_t query = 0; query < shape.query_count; ++query) {
    if (query < miss_count) {
      queries.push_back(keys.absent(query));
    } else {
      const uint64_t entry =
          shape.zipf_exponent > 0 ? zipf.rank(draw) - 1 : draw.below(shape.entry_count);
      queries.push_back(keys.inserted(shape.first_entry + entry));
    }
  }
  for (size_t left = queries.size(); left > 1; --left)
    std::swap(queries[left - 1], queries[draw.below(left)]);
  return queries;
}

}  // namespace roost::traffic
