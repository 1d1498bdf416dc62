// Once a table is created, nothing that a datapath calls takes memory: every way to it is counted.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "capi/roost.h"
#include "tests/capi/c_table.h"
#include "tests/capi/counted_allocations.h"

namespace roost {
namespace {

constexpr size_t kCount = 600;

struct Batch {
  Batch() { std::iota(keys.begin(), keys.end(), 0); }
  roost_keys lanes() const {
    roost_keys lanes{};
    lanes.keys = keys.data();
    lanes.count = kCount;
    return lanes;
  }
  std::vector<uint64_t> keys = std::vector<uint64_t>(kCount);
  std::vector<uint64_t> values = std::vector<uint64_t>(kCount);
  std::vector<void*> places = std::vector<void*>(kCount);
  std::vector<uint8_t> outcomes = std::vector<uint8_t>(kCount);
  std::vector<uint64_t> hits = std::vector<uint64_t>(ROOST_HIT_WORDS(kCount));
};

void use_everything(roost_table* table, Batch& batch) {
  const roost_keys lanes = batch.lanes();
  const roost_records records = {batch.keys.data(), sizeof(uint64_t)};
  roost_flight flight;
  roost_cursor cursor = {0};
  roost_info info;
  info.size = sizeof(info);
  roost_stats stats;
  stats.size = sizeof(stats);
  // More keys than there are slots, so that kicks and refusals happen too.
  roost_table_insert(table, &lanes, batch.values.data(), nullptr, batch.outcomes.data());
  roost_table_upsert(table, &lanes, batch.values.data(), nullptr, batch.outcomes.data());
  roost_table_lookup(table, &lanes, batch.values.data(), batch.hits.data());
  roost_table_find(table, &lanes, batch.places.data(), batch.hits.data());
  roost_table_refresh(table, batch.places[0], 3);
  static_cast<void>(roost_table_ticks_left(table, batch.places[0]));
  roost_table_lookup_refresh(table, &lanes, nullptr, batch.values.data(), batch.hits.data());
  roost_table_lookup_records(table, &lanes, &records, batch.values.data(), batch.hits.data());
  roost_table_start(table, &lanes, &flight);
  roost_table_lookup_and_start(table, &flight, batch.values.data(), batch.hits.data(), &lanes);
  roost_table_hash(table, &lanes, batch.values.data());
  roost_table_scan(table, &cursor, batch.keys.data(), batch.values.data(), kCount);
  size_t scanned = 0;
  cursor = {0};
  roost_table_scan_part(table, &cursor, batch.keys.data(), batch.values.data(), kCount, 3,
                        &scanned);
  roost_table_erase(table, &lanes, batch.hits.data());
  roost_table_advance(table, roost_table_now(table) + 2000);
  roost_table_maintain(table, 1'000'000);
  roost_table_info(table, &info);
  roost_table_stats(table, &stats);
  roost_table_occupancy(table, batch.values.data());
  roost_table_clear(table);
}

TEST(CInterfaceAllocation, nothing_but_creation_audit_and_dump_takes_memory) {
  roost_config config = c_config(8, 8, 512);
  config.expires = true;
  const CTableHandle table = c_create(config).value();
  Batch batch;
  const uint64_t before = allocation_count;
  use_everything(table.get(), batch);
  EXPECT_EQ(allocation_count, before);
  // The counter counts.
  char text[100];
  roost_table_dump_bucket(table.get(), 0, text, sizeof(text));
  EXPECT_GT(allocation_count, before);
}

TEST(CInterfaceAllocation, creation_without_memory_is_a_status_whichever_allocation_fails) {
  const roost_config config = c_config(8, 8, 512);
  int64_t failed_count = 0;
  for (roost_table* table = nullptr; table == nullptr; ++failed_count) {
    ASSERT_LT(failed_count, 100);
    char error[200] = "";
    allocations_left = failed_count;
    const roost_status status = roost_table_create(&config, &table, error, sizeof(error));
    allocations_left = -1;
    if (table != nullptr) {
      EXPECT_EQ(status, ROOST_OK);
      roost_table_destroy(table);
      break;
    }
    EXPECT_EQ(status, ROOST_NO_MEMORY);
    EXPECT_STREQ(error, "no memory for the fixed parts of a table; free some");
  }
  EXPECT_GT(failed_count, 0);
}

TEST(CInterfaceAllocation, adoption_without_memory_is_a_status_and_leaves_the_table_in_its_memory) {
  roost_config config = c_config(8, 8, 512);
  config.pages = ROOST_PAGES_LARGEST;
  uint64_t bytes = 0;
  ASSERT_EQ(roost_table_bytes(&config, &bytes, nullptr, 0), ROOST_OK);
  config.memory_bytes = (bytes + 63) / 64 * 64;
  config.memory = std::aligned_alloc(64, config.memory_bytes);
  ASSERT_TRUE(c_create(config));
  config.capacity = 0;
  roost_table* table = nullptr;
  allocations_left = 0;
  const roost_status status = roost_table_adopt(&config, &table, nullptr, 0);
  allocations_left = -1;
  EXPECT_EQ(status, ROOST_NO_MEMORY);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(roost_table_adopt(&config, &table, nullptr, 0), ROOST_OK);
  roost_table_destroy(table);
  std::free(config.memory);
}

TEST(CInterfaceAllocation, saving_without_memory_is_a_status) {
  const CTableHandle table = c_create(c_config(8, 8, 512)).value();
  char text[100] = "#";
  allocations_left = 0;
  const roost_status status =
      roost_table_save(table.get(), "/none/of/these/folders/is/there", text, sizeof(text));
  allocations_left = -1;
  EXPECT_EQ(status, ROOST_NO_MEMORY);
  EXPECT_STREQ(text, "no memory for the file's name; free some");
}

TEST(CInterfaceAllocation, audit_and_dump_without_memory_are_outcomes) {
  const CTableHandle table = c_create(c_config(8, 8, 512)).value();
  char text[100] = "#";
  allocations_left = 0;
  const roost_status status = roost_table_audit(table.get(), nullptr);
  const size_t length = roost_table_dump_bucket(table.get(), 0, text, sizeof(text));
  allocations_left = -1;
  EXPECT_EQ(status, ROOST_NO_MEMORY);
  EXPECT_EQ(length, 0U);
  EXPECT_STREQ(text, "");
}

}  // namespace
}  // namespace roost
