// Tables of the C interface as C++ tests hold them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "capi/roost.h"
#include "roost/base/result.h"

namespace roost {

struct CTableDeleter {
  void operator()(roost_table* table) const { roost_table_destroy(table); }
};
using CTableHandle = std::unique_ptr<roost_table, CTableDeleter>;

// A configuration with what tests always set. The layout is the split one, unless they say so.
inline roost_config c_config(uint32_t key_bytes, uint32_t value_bytes, uint64_t capacity) {
  roost_config config;
  roost_config_init(&config, sizeof(config));
  config.key_bytes = key_bytes;
  config.value_bytes = value_bytes;
  config.capacity = capacity;
  config.pages = ROOST_PAGES_4KIB;
  config.layout = ROOST_LAYOUT_SPLIT;
  return config;
}

inline Result<CTableHandle> c_create(const roost_config* config) {
  roost_table* table = nullptr;
  std::string error(300, '#');
  const roost_status status = roost_table_create(config, &table, error.data(), error.size());
  if (status != ROOST_OK) return Error{error.c_str()};
  return CTableHandle(table);
}
inline Result<CTableHandle> c_create(const roost_config& config) { return c_create(&config); }

}  // namespace roost
