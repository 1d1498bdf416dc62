// The main function of tests that need DPDK's environment layer, which a process starts once.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "lab/contestants/eal.h"
#include "lab/harness/pinned_core.h"

namespace roost::lab {

// On ordinary pages. Returns the process's exit status.
inline int run_tests_with_eal(int argc, char** argv, uint64_t memory_bytes,
                              unsigned register_bits = 0) {
  testing::InitGoogleTest(&argc, argv);
  const auto core = last_allowed_core();
  if (!core) return 1;
  const auto eal = Eal::start({.core = core.value(),
                               .pages = PageKind::kSmall,
                               .memory_bytes = memory_bytes,
                               .register_bits = register_bits});
  if (!eal) {
    std::fputs(eal.error().message.c_str(), stderr);
    return 1;
  }
  return RUN_ALL_TESTS();
}

}  // namespace roost::lab
