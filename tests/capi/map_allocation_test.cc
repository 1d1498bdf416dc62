// Which functions of maps take memory, and what becomes of those that find none.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "capi/roost.h"
#include "capi/roost_map.h"
#include "tests/capi/c_map.h"
#include "tests/capi/counted_allocations.h"

namespace roost {
namespace {

constexpr size_t kMapKeyCount = 2'000;

// Calls it with no memory after its first allocation, its second, and so on, until it has enough;
// how often it failed.
int64_t failures_until_done(const std::function<roost_status()>& call) {
  for (int64_t allowed = 0; allowed < 100'000; ++allowed) {
    allocations_left = allowed;
    const roost_status status = call();
    allocations_left = -1;
    if (status == ROOST_OK) return allowed;
    EXPECT_EQ(status, ROOST_NO_MEMORY);
    if (status != ROOST_NO_MEMORY) return -1;
  }
  return -1;
}

class CMapAllocation : public testing::TestWithParam<uint32_t> {
 protected:
  CMapAllocation() : entries_(c_entries(8, kMapKeyCount)), lanes_(entries_.lanes()) {}
  [[nodiscard]] CMapHandle map() const {
    return c_map(c_map_config(GetParam(), 8), entries_).value();
  }
  static roost_map_rebuild* begin(const CMapHandle& map) {
    roost_map_rebuild* rebuild = nullptr;
    EXPECT_EQ(roost_map_begin_rebuild(map.get(), nullptr, &rebuild, nullptr, 0), ROOST_OK);
    return rebuild;
  }
  void expect_whole(const CMapHandle& map, const CMapReaderHandle& reader) {
    EXPECT_EQ(c_look_up(reader.get(), lanes_).values, entries_.values);
    EXPECT_EQ(roost_map_audit(map.get(), nullptr, 0), ROOST_OK);
  }

  CEntries entries_;
  roost_keys lanes_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, CMapAllocation,
                         testing::Values(uint32_t{ROOST_MAP_LINE}, uint32_t{ROOST_MAP_PARROT}));

TEST_P(CMapAllocation, lookups_take_no_memory) {
  const CMapHandle map = this->map();
  const CMapReaderHandle reader = c_reader(map);
  CAnswer answer(kMapKeyCount);
  std::vector<const void*> pointers(kMapKeyCount);
  for (size_t i = 0; i < kMapKeyCount; ++i) pointers[i] = &entries_.keys[8 * i];
  roost_keys scattered{};
  scattered.pointers = pointers.data();
  scattered.count = kMapKeyCount;
  std::vector<std::byte> exported(roost_map_export(map.get(), nullptr, 0));
  const uint64_t before = allocation_count;
  for (const roost_keys* keys : {&lanes_, &scattered}) {
    roost_map_reader_lookup_unverified(reader.get(), keys, answer.values.data(),
                                       answer.bits.data());
    roost_map_find(map.get(), keys, answer.values.data(), answer.bits.data());
  }
  roost_map_reader_pause(reader.get());
  roost_map_reader_resume(reader.get());
  static_cast<void>(roost_map_free_retired(map.get()));
  roost_map_export(map.get(), exported.data(), exported.size());
  EXPECT_EQ(allocation_count, before);
}

TEST_P(CMapAllocation, creation_without_memory_is_a_status_whichever_allocation_fails) {
  const roost_map_config config = c_map_config(GetParam(), 8);
  roost_map* map = nullptr;
  EXPECT_GT(failures_until_done([&] {
              return roost_map_create(&config, &lanes_, entries_.values.data(), &map, nullptr, 0);
            }),
            3);
  roost_map_destroy(map);
}

TEST_P(CMapAllocation, readers_reports_and_audits_without_memory_are_statuses) {
  const CMapHandle map = this->map();
  roost_map_reader* reader = nullptr;
  EXPECT_GT(
      failures_until_done([&] { return roost_map_reader_create(map.get(), &reader, nullptr, 0); }),
      0);
  const CMapReaderHandle handle(reader);
  roost_map_figures report{};
  report.size = sizeof(report);
  EXPECT_GE(failures_until_done([&] { return roost_map_report(map.get(), &report); }), 0);
  EXPECT_GE(failures_until_done([&] { return roost_map_audit(map.get(), nullptr, 0); }), 0);
  expect_whole(map, handle);
}

TEST_P(CMapAllocation, a_rebuild_without_memory_changes_nothing) {
  const CMapHandle map = this->map();
  const CMapReaderHandle reader = c_reader(map);
  EXPECT_GT(failures_until_done([&] {
              roost_map_rebuild* rebuild = nullptr;
              return roost_map_begin_rebuild(map.get(), nullptr, &rebuild, nullptr, 0);
            }),
            0);
  roost_map_give_up(map.get());
  // To run one.
  EXPECT_GT(failures_until_done([&] {
              const int64_t allowed = allocations_left;
              allocations_left = -1;
              roost_map_rebuild* rebuild = begin(map);
              allocations_left = allowed;
              roost_map_rebuild_run(rebuild);
              allocations_left = -1;
              return roost_map_adopt(map.get(), nullptr, 0);
            }),
            3);
  expect_whole(map, reader);
  // To take one into use, with a change to make in it.
  roost_map_config config = c_map_config(GetParam(), 8);
  config.load = 0.5;
  const uint64_t bytes = roost_map_export(map.get(), nullptr, 0);
  EXPECT_GT(failures_until_done([&] {
              const int64_t allowed = allocations_left;
              allocations_left = -1;
              EXPECT_EQ(roost_map_export(map.get(), nullptr, 0), bytes) << "the old one stays";
              roost_map_rebuild* rebuild = nullptr;
              roost_map_begin_rebuild(map.get(), &config, &rebuild, nullptr, 0);
              roost_map_rebuild_run(rebuild);
              uint8_t outcome = 0;
              const roost_keys one = entries_.lanes(5, 1);
              roost_map_update(map.get(), &one, &entries_.values[5], &outcome);
              allocations_left = allowed;
              return roost_map_adopt(map.get(), nullptr, 0);
            }),
            0);
  expect_whole(map, reader);
}

TEST_P(CMapAllocation, a_change_without_memory_ends_the_process) {
  const CMapHandle map = this->map();
  const roost_keys one = entries_.lanes(5, 1);
  uint8_t outcome = 0;
  EXPECT_DEATH(
      {
        roost_map_erase(map.get(), &one, &outcome);
        allocations_left = 0;
        roost_map_insert(map.get(), &one, entries_.values.data(), &outcome);
      },
      "bad_alloc");
}

}  // namespace
}  // namespace roost
