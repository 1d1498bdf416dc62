// Files that must be refused, with the line and what to do. In each of them the comment `#!` marks
// the line that must be named.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "apps/lb/config.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {

inline uint32_t marked_line(std::string_view text) {
  const size_t mark = text.find("#!");
  if (mark == std::string_view::npos) return 0;
  return static_cast<uint32_t>(1 + std::ranges::count(text.substr(0, mark), '\n'));
}

struct BadFile {
  std::string replace;  // in the test configuration; empty: `by` is put at its end
  std::string by;       // with a mark
  std::string fault;    // a part of the message
};

inline void expect_refused(const BadFile& bad) {
  SCOPED_TRACE(bad.by);
  const std::string toml =
      bad.replace.empty() ? test_config() + bad.by : test_config(bad.replace, bad.by);
  const ConfigOutcome outcome = parse_config(toml);
  EXPECT_FALSE(outcome.config.has_value());
  ASSERT_FALSE(outcome.faults.empty());
  const uint32_t line = marked_line(toml);
  ASSERT_NE(line, 0U);
  bool is_named = false;
  std::string all;
  for (const Fault& fault : outcome.faults) {
    all += describe(fault, "lb.toml") + "\n";
    is_named |= fault.line == line && fault.text.find(bad.fault) != std::string::npos;
    EXPECT_NE(fault.text.find(';'), std::string::npos) << "it must say what to do: " << fault.text;
  }
  EXPECT_TRUE(is_named) << "line " << line << " and '" << bad.fault << "' are not both in\n" << all;
}

}  // namespace roost::lb
