// What roost.h promises of walks over a table.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "tests/capi/contract.h"

namespace roost {
namespace {

TEST_F(CContractTest, a_scan_with_room_for_one_visits_every_entry_once_though_it_erases_them) {
  make(c_config(8, 8, 256), 70);
  roost_cursor cursor = {0};
  uint64_t key = 0;
  uint64_t sum = 0;
  size_t count = 0;
  for (; roost_table_scan(table_.get(), &cursor, &key, nullptr, 1) == 1; ++count) {
    sum += key;
    roost_keys one{};
    one.keys = &key;
    one.count = 1;
    EXPECT_EQ(roost_table_erase(table_.get(), &one, hits_.data()), 1U);
  }
  EXPECT_EQ(count, 70U);
  EXPECT_EQ(sum, std::accumulate(keys_.begin(), keys_.begin() + 70, uint64_t{0}));
}

// The table is nearly empty: a scan with room for one passes many empty buckets, unless it is told
// how many it may.
TEST_F(CContractTest, a_part_of_a_scan_looks_at_no_more_buckets_than_it_may) {
  make(c_config(8, 8, 1'000'000), 3);
  roost_info info{};
  info.size = sizeof info;
  roost_table_info(table_.get(), &info);
  roost_cursor cursor = {0};
  uint64_t key = 0;
  size_t found = 0;
  uint64_t calls = 1;
  size_t count = 0;
  while (roost_table_scan_part(table_.get(), &cursor, &key, nullptr, 1, 100, &count) != 0) {
    ASSERT_LE(count, 1U);
    found += count;
    ++calls;
  }
  EXPECT_EQ(found + count, 3U);
  EXPECT_GE(calls, info.bucket_count / 100);
  EXPECT_EQ(roost_table_scan_part(table_.get(), &cursor, &key, nullptr, 1, 100, &count), 0);
  EXPECT_EQ(count, 0U) << "past its end";
}

}  // namespace
}  // namespace roost
