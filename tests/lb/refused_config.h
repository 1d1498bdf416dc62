// The test configuration with something wrong in it: it must be refused
// (tests/config/fault_at_mark.h).
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "apps/lb/config/config.h"
#include "tests/config/fault_at_mark.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {

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
  config::expect_fault_at_mark(toml, outcome.faults, bad.fault);
}

}  // namespace roost::lb
