// Which layout a table of the C interface has, and what is promised of pointers into it.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "capi/roost.h"
#include "tests/capi/c_table.h"
#include "tests/capi/config_refusal.h"

namespace roost {
namespace {

struct LayoutCase {
  uint32_t key_bytes;
  uint32_t value_bytes;
  uint32_t wish;
  const char* name;
  uint32_t bucket_slots;
};

TEST(CLayout, sizes_choose_the_layout_unless_the_caller_does) {
  for (const LayoutCase& expected : {LayoutCase{16, 16, ROOST_LAYOUT_AUTOMATIC, "split", 8},
                                     LayoutCase{13, 16, ROOST_LAYOUT_AUTOMATIC, "inline", 2},
                                     LayoutCase{13, 4, ROOST_LAYOUT_AUTOMATIC, "inline", 3},
                                     LayoutCase{8, 8, ROOST_LAYOUT_AUTOMATIC, "inline", 3},
                                     LayoutCase{16, 8, ROOST_LAYOUT_AUTOMATIC, "split", 8},
                                     LayoutCase{16, 8, ROOST_LAYOUT_INLINE, "inline", 2},
                                     LayoutCase{4, 0, ROOST_LAYOUT_INLINE, "inline", 3},
                                     LayoutCase{6, 2, ROOST_LAYOUT_AUTOMATIC, "packed", 8},
                                     LayoutCase{4, 0, ROOST_LAYOUT_PACKED, "packed", 8},
                                     LayoutCase{6, 2, ROOST_LAYOUT_INLINE, "inline", 3},
                                     LayoutCase{8, 2, ROOST_LAYOUT_AUTOMATIC, "inline", 3},
                                     LayoutCase{13, 4, ROOST_LAYOUT_SPLIT, "split", 8}}) {
    roost_config config = c_config(expected.key_bytes, expected.value_bytes, 600);
    config.layout = expected.wish;
    uint64_t bytes = 0;
    ASSERT_EQ(roost_table_bytes(&config, &bytes, nullptr, 0), ROOST_OK);
    const CTableHandle table = c_create(config).value();
    roost_info info;
    info.size = sizeof(info);
    ASSERT_EQ(roost_table_info(table.get(), &info), ROOST_OK);
    EXPECT_STREQ(info.layout, expected.name) << expected.key_bytes << " + " << expected.value_bytes;
    EXPECT_EQ(info.bucket_slots, expected.bucket_slots);
    EXPECT_EQ(info.bucket_count, info.capacity / expected.bucket_slots);
    EXPECT_GE(info.memory_bytes, bytes);
  }
}

TEST(CLayout, a_caller_who_knows_no_layouts_gets_what_sizes_choose) {
  roost_config config = c_config(13, 4, 600);
  config.size = offsetof(roost_config, layout);
  config.layout = 77;  // not the caller's
  const CTableHandle table = c_create(config).value();
  roost_info info;
  info.size = offsetof(roost_info, layout);
  info.layout = "as it was";
  ASSERT_EQ(roost_table_info(table.get(), &info), ROOST_OK);
  EXPECT_EQ(info.bucket_count, info.capacity / 3);
  EXPECT_STREQ(info.layout, "as it was");
}

TEST(CLayout, layouts_that_cannot_be_are_refused) {
  roost_config config = c_config(16, 16, 600);
  config.layout = ROOST_LAYOUT_INLINE;
  expect_invalid(config,
                 "roost_config: layout is ROOST_LAYOUT_INLINE, which has no room for 16 + 16 bytes "
                 "of key and value, but for keys of 4 to 16 bytes and 29 bytes in all (not 9 + "
                 "20); leave it 0");
  config.layout = 4;
  expect_invalid(config, "roost_config: layout is 4; it is one of roost_layout");
  config = c_config(8, 2, 600);
  config.layout = ROOST_LAYOUT_PACKED;
  const std::string limits =
      ", but for keys of 8 to 60 bits (key_bits says fewer than they have) and values of up to 2 "
      "bytes without expiry; leave it 0";
  expect_invalid(config,
                 "roost_config: layout is ROOST_LAYOUT_PACKED, which is not for 8 + 2 bytes of key "
                 "and value" +
                     limits);
  config.key_bits = 60;
  expect_invalid(config,
                 "a capacity of 600 slots is out of range; set 131072 to 1099511627776, or none "
                 "and entries_max");
  config.expires = true;
  expect_invalid(config,
                 "roost_config: layout is ROOST_LAYOUT_PACKED, which is not for 8 + 2 bytes of key "
                 "and value that expire" +
                     limits);
  config = c_config(13, 16, 0);
  config.layout = ROOST_LAYOUT_INLINE;
  config.capacity = 1000;
  config.entries_max = 851;
  expect_invalid(config,
                 "a capacity of 1000 slots can promise to hold 850 entries, not 851; ask for "
                 "fewer, or leave the capacity to the table");
}

TEST(CLayout, a_table_with_too_few_slots_to_be_packed_is_not_unless_it_must) {
  roost_config config = c_config(6, 2, 16);
  config.layout = ROOST_LAYOUT_AUTOMATIC;
  const CTableHandle table = c_create(config).value();
  roost_info info;
  info.size = sizeof(info);
  ASSERT_EQ(roost_table_info(table.get(), &info), ROOST_OK);
  EXPECT_STREQ(info.layout, "inline");
  EXPECT_EQ(info.capacity, 18U);
}

// VLAN and MAC address in 60 bits.
TEST(CLayout, keys_with_bits_beyond_those_that_count_are_not_taken_and_not_found) {
  roost_config config = c_config(8, 2, 0);
  config.layout = ROOST_LAYOUT_AUTOMATIC;
  config.entries_max = 1'000;
  config.key_bits = 60;
  const CTableHandle table = c_create(config).value();
  const std::array<uint64_t, 3> key_words = {5, 5 | uint64_t{1} << 60, (uint64_t{1} << 60) - 1};
  const std::array<uint16_t, 3> values = {7, 8, 9};
  std::array<uint8_t, 3> outcomes{};
  roost_keys keys{};
  keys.keys = key_words.data();
  keys.count = 3;
  EXPECT_EQ(roost_table_insert(table.get(), &keys, values.data(), nullptr, outcomes.data()), 2U);
  EXPECT_EQ(outcomes, (std::array<uint8_t, 3>{ROOST_INSERTED, ROOST_WIDE_KEY, ROOST_INSERTED}));
  std::array<uint16_t, 3> found{};
  uint64_t hits = 0;
  EXPECT_EQ(roost_table_lookup(table.get(), &keys, found.data(), &hits), 2U);
  EXPECT_EQ(hits, 0b101U);
  EXPECT_EQ(found, (std::array<uint16_t, 3>{7, 0, 9}));
  EXPECT_EQ(roost_table_erase(table.get(), &keys, &hits), 2U);
  EXPECT_EQ(hits, 0b101U);
}

// What a find points to may be used as any type of the value's size.
TEST(CLayout, values_in_place_are_aligned_for_their_size) {
  for (const uint32_t value_bytes : {4U, 8U, 12U, 16U}) {
    roost_config config = c_config(13, value_bytes, 600);
    config.layout = ROOST_LAYOUT_INLINE;
    const CTableHandle table = c_create(config).value();
    std::array<char, 1'300> key_bytes{};
    for (size_t i = 0; i < 100; ++i) key_bytes[13 * i] = static_cast<char>(i);
    const std::vector<char> values(size_t{100} * value_bytes);
    std::array<uint8_t, 100> outcomes{};
    roost_keys keys{};
    keys.keys = key_bytes.data();
    keys.count = 100;
    ASSERT_EQ(roost_table_insert(table.get(), &keys, values.data(), nullptr, outcomes.data()),
              100U);
    std::array<void*, 100> found{};
    std::array<uint64_t, 2> hits{};
    ASSERT_EQ(roost_table_find(table.get(), &keys, found.data(), hits.data()), 100U);
    const uint32_t alignment = value_bytes & (~value_bytes + 1);
    for (const void* value : found)
      ASSERT_EQ(reinterpret_cast<uintptr_t>(value) % alignment, 0U) << value_bytes;
  }
}

}  // namespace
}  // namespace roost
