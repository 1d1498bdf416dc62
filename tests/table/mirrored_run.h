// Random operations on a mirrored table: every step is compared, and now and then everything.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

#include "tests/base/step_count.h"
#include "tests/table/mirror.h"

namespace roost {

// Runs `steps` operations chosen by `seed`, then settles the accounts. Call it by
// ASSERT_NO_FATAL_FAILURE.
inline void run_mirrored(Mirror& mirror, uint64_t seed, unsigned steps) {
  std::mt19937_64 random(seed);
  const auto choose = [&random](uint64_t count) { return random() % count; };
  for (unsigned step = 0; step < step_count(steps); ++step) {
    const std::optional<std::string_view> wrong = mirror.step(choose);
    ASSERT_FALSE(wrong) << "step " << step << ": " << *wrong;
    if (step % 250 == 0) {
      const std::optional<std::string_view> difference = mirror.compare_all();
      ASSERT_FALSE(difference) << "step " << step << ": " << *difference;
    }
  }
  const std::optional<std::string_view> unsettled = mirror.settle();
  ASSERT_FALSE(unsettled) << *unsettled;
}

}  // namespace roost
