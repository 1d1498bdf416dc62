// Line maps of the tests' keys.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "roost/compact/line_map_builder_impl.h"
#include "tests/compact/key_sets.h"

namespace roost::compact {

using Map = LineMapBuilder<uint64_t>;

inline std::vector<Map::Entry> map_entries(const std::vector<uint64_t>& keys, uint32_t bits = 16) {
  std::vector<Map::Entry> entries;
  for (const uint64_t key : keys) entries.push_back({key, value_of(key, bits)});
  return entries;
}
inline Map map_of(LineMapConfig config, const std::vector<uint64_t>& keys) {
  if (!config.hash_seed) config.hash_seed = 1;
  auto map = Map::build(config, map_entries(keys, config.value_bits));
  EXPECT_TRUE(map) << map.error().message;
  return std::move(map).value();
}
inline LineMapReader<uint64_t> map_reader(const Map& map) {
  return LineMapReader<uint64_t>::open(map.image()).value();
}

}  // namespace roost::compact
