// Files that must be refused, with the line and what to do. In each of them the comment `#!` marks
// the line that must be named.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"

namespace roost::config {

// 0 when there is no mark.
inline uint32_t marked_line(std::string_view text) {
  const size_t mark = text.find("#!");
  if (mark == std::string_view::npos) return 0;
  return static_cast<uint32_t>(1 + std::ranges::count(text.substr(0, mark), '\n'));
}

// One of the faults is on the marked line and has `part` in its text; each says what to do.
inline void expect_fault_at_mark(std::string_view toml, const std::vector<Fault>& faults,
                                 std::string_view part) {
  ASSERT_FALSE(faults.empty());
  const uint32_t line = marked_line(toml);
  ASSERT_NE(line, 0U);
  bool is_named = false;
  for (const Fault& fault : faults) {
    is_named |= fault.line == line && fault.text.find(part) != std::string::npos;
    EXPECT_NE(fault.text.find(';'), std::string::npos) << "it must say what to do: " << fault.text;
  }
  EXPECT_TRUE(is_named) << "line " << line << " and '" << part << "' are not both in\n"
                        << error_of(faults, "file").message;
}

}  // namespace roost::config
