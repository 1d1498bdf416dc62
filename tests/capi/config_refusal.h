// How a configuration is refused, by the function that creates a table and by the one that only
// sizes it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "capi/roost.h"

namespace roost {

struct Refusal {
  roost_status status;
  std::string text;
};

inline Refusal refusal_of(const roost_config& config) {
  roost_table* table = reinterpret_cast<roost_table*>(1);
  std::string error(400, '#');
  const roost_status status = roost_table_create(&config, &table, error.data(), error.size());
  if (status == ROOST_OK) {
    roost_table_destroy(table);
    return {ROOST_OK, ""};
  }
  EXPECT_EQ(table, nullptr) << "a table that was not created is NULL";
  return {status, error.c_str()};
}

inline void expect_invalid(const roost_config& config, const std::string& text) {
  const Refusal refusal = refusal_of(config);
  EXPECT_EQ(refusal.status, ROOST_INVALID);
  EXPECT_EQ(refusal.text, text);
  // A call that only asks for the size gets the same.
  uint64_t bytes = 0;
  std::string error(400, '#');
  EXPECT_EQ(roost_table_bytes(&config, &bytes, error.data(), error.size()), ROOST_INVALID);
  EXPECT_STREQ(error.c_str(), text.c_str());
}

}  // namespace roost
