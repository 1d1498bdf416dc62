// A table of the C interface and a hundred keys, for the tests of what roost.h promises.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>

#include "capi/roost.h"
#include "tests/capi/c_table.h"

namespace roost {

inline constexpr size_t kCount = 100;

class CContractTest : public testing::Test {
 protected:
  CContractTest() { std::iota(keys_.begin(), keys_.end(), 1000); }

  void make(roost_config config, size_t entry_count) {
    table_ = c_create(config).value();
    insert(entry_count, nullptr);
  }
  void insert(size_t entry_count, const roost_timeouts* timeouts) {
    const roost_keys lanes = side_by_side(entry_count);
    std::array<uint8_t, kCount> outcomes{};
    std::array<uint64_t, kCount> values = keys_;
    ASSERT_EQ(roost_table_insert(table_.get(), &lanes, values.data(), timeouts, outcomes.data()),
              entry_count);
  }
  roost_keys side_by_side(size_t count = kCount) const {
    roost_keys lanes{};
    lanes.keys = keys_.data();
    lanes.count = count;
    return lanes;
  }
  size_t found_count() {
    const roost_keys lanes = side_by_side();
    return roost_table_lookup(table_.get(), &lanes, nullptr, hits_.data());
  }
  roost_stats stats() const {
    roost_stats stats;
    stats.size = sizeof(stats);
    EXPECT_EQ(roost_table_stats(table_.get(), &stats), ROOST_OK);
    return stats;
  }

  std::array<uint64_t, kCount> keys_{};
  std::array<uint64_t, ROOST_HIT_WORDS(kCount)> hits_{};
  CTableHandle table_;
};

}  // namespace roost
