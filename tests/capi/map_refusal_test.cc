// Maps that cannot be are refused: what is wrong, where, what to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "capi/roost.h"
#include "capi/roost_map.h"
#include "tests/base/step_count.h"
#include "tests/capi/c_map.h"

namespace roost {
namespace {

void expect_refused(const roost_map_config& config, const CEntries& entries,
                    const std::string& text, roost_status status = ROOST_INVALID) {
  CMapHandle map;
  const CMapRefusal refusal = c_create_map(config, entries, map);
  EXPECT_EQ(refusal.status, status);
  EXPECT_EQ(refusal.text, text);
  EXPECT_EQ(map, nullptr) << "a map that was not created is NULL";
}

TEST(CMapRefusal, names_the_field_that_is_wrong) {
  using Change = std::function<void(roost_map_config&)>;
  const CEntries none = c_entries(8, 0);
  const auto line = [&](const Change& change, const std::string& text) {
    roost_map_config config = c_map_config(ROOST_MAP_LINE, 8);
    change(config);
    expect_refused(config, none, "roost_map_config: " + text);
  };
  const auto parrot = [&](const Change& change, const std::string& text) {
    roost_map_config config = c_map_config(ROOST_MAP_PARROT, 8);
    change(config);
    expect_refused(config, none, "roost_map_config: " + text);
  };
  line([](auto& config) { config.size = 3; },
       "size is 3; let roost_map_config_init() set it to sizeof(roost_map_config)");
  line([](auto& config) { config.kind = 2; }, "kind is 2; it is one of roost_map_kind");
  line([](auto& config) { config.key_bytes = 65; }, "key_bytes is 65; it is 1 to 64");
  parrot([](auto& config) { config.key_bytes = 9; },
         "key_bytes is 9; it is 1 to 8 for Parrot; longer keys take ROOST_MAP_LINE");
  parrot([](auto& config) { config.key_bytes = 0; },
         "key_bytes is 0; it is 1 to 8 for Parrot; longer keys take ROOST_MAP_LINE");
  parrot([](auto& config) { config.key_bits = 65; }, "key_bits is 65; keys of 8 bytes have 64");
  parrot([](auto& config) { config.insertion = 2; },
         "insertion is 2; it is one of roost_map_insertion");
  const std::string of_parrot = " is Parrot's, and kind is ROOST_MAP_LINE; leave it 0";
  line([](auto& config) { config.key_bits = 48; }, "key_bits" + of_parrot);
  line([](auto& config) { config.insertion = 1; }, "insertion" + of_parrot);
  line([](auto& config) { config.growth = 2; }, "growth" + of_parrot);
  line([](auto& config) { config.is_big_endian = true; }, "is_big_endian" + of_parrot);
  line([](auto& config) { config.value_bits = 33; }, "value_bits: give 4 to 32");
  parrot([](auto& config) { config.value_bits = 3; }, "value_bits: give 4 to 32");
  line([](auto& config) { config.fingerprint_bits = 7; }, "fingerprint_bits: give 0, 8, 12 or 16");
  line([](auto& config) { config.has_hash_seed = false; },
       "hash_seed is set without has_hash_seed; set both, or leave it 0");
  line([](auto& config) { config.pages = 9; }, "pages is 9; it is one of roost_pages");
  line([](auto& config) { config.numa_node = -2; },
       "numa_node is -2; it is a node's number, or -1 for any");
  line([](auto& config) { config.reserved[4] = 1; },
       "reserved is not zero; begin with roost_map_config_init()");
}

TEST(CMapRefusal, a_wish_of_a_newer_caller_is_not_ignored) {
  struct Newer {
    roost_map_config config;
    uint64_t wish;
  };
  Newer newer{.config = c_map_config(ROOST_MAP_LINE, 8), .wish = 1};
  newer.config.size = sizeof(newer);
  roost_map* map = nullptr;
  std::array<char, 300> error{};
  const CEntries none = c_entries(8, 0);
  const roost_keys lanes = none.lanes();
  EXPECT_EQ(roost_map_create(&newer.config, &lanes, nullptr, &map, error.data(), error.size()),
            ROOST_INVALID);
  EXPECT_STREQ(error.data(),
               "roost_map_config: a field is set that this version of the library does not have; "
               "leave it zero, or use the library of the header that the program was compiled "
               "with");
  newer.wish = 0;
  EXPECT_EQ(roost_map_create(&newer.config, &lanes, nullptr, &map, nullptr, 0), ROOST_OK);
  roost_map_destroy(map);
}

TEST(CMapRefusal, names_the_entry_that_is_wrong) {
  CEntries entries = c_entries(8, 1'000);
  roost_map_config line = c_map_config(ROOST_MAP_LINE, 8);
  roost_map_config parrot = c_map_config(ROOST_MAP_PARROT, 8);
  entries.values[700] = 65'535;
  const std::string wide =
      "entry 700 has the value 65535; values of 16 bits are below 65535, see value_bits";
  expect_refused(line, entries, wide);
  expect_refused(parrot, entries, wide);
  entries.values[700] = 1;

  std::memcpy(&entries.keys[size_t{8} * 900], &entries.keys[size_t{8} * 3], 8);
  std::memcpy(&entries.keys[size_t{8} * 800], &entries.keys[size_t{8} * 5], 8);
  const std::string twice = "entry 800 has the key of entry 5; give each key once";
  expect_refused(line, entries, twice);
  expect_refused(parrot, entries, twice);

  entries = c_entries(8, 1'000);
  entries.keys[8 * 600 + 6] = std::byte{1};
  parrot.key_bits = 48;
  expect_refused(parrot, entries, "entry 600 has a key of more than 48 bits; see key_bits");
}

// All alike, or each there twice: told within the time of a build.
TEST(CMapRefusal, many_keys_that_are_there_twice_are_told_soon) {
  const size_t half = step_count(50'000);
  CEntries entries = c_entries(13, 2 * half);
  std::memcpy(&entries.keys[13 * half], entries.keys.data(), 13 * half);
  const std::string twice =
      "entry " + std::to_string(half) + " has the key of entry 0; give each key once";
  expect_refused(c_map_config(ROOST_MAP_LINE, 13), entries, twice);
  std::ranges::fill(entries.keys, std::byte{7});
  expect_refused(c_map_config(ROOST_MAP_LINE, 13), entries,
                 "entry 1 has the key of entry 0; give each key once");
}

TEST(CMapRefusal, what_cannot_be_built_is_said_in_the_builder_s_words) {
  const CEntries some = c_entries(8, 10);
  roost_map_config config = c_map_config(ROOST_MAP_LINE, 8);
  config.load = 0.98;
  expect_refused(config, some, "load: give more than 0 and at most 0.97");
  config = c_map_config(ROOST_MAP_PARROT, 8);
  expect_refused(config, c_entries(8, 0), "there is no entry to build a table of");
  config.growth = 0.5;
  expect_refused(config, some, "growth: give at least 1");
}

TEST(CMapRefusal, a_lookup_on_its_way_is_no_keys_of_a_map) {
  const CEntries some = c_entries(8, 10);
  roost_keys lanes = some.lanes();
  const uint64_t hashes[10] = {};
  lanes.hashes = hashes;
  const roost_map_config config = c_map_config(ROOST_MAP_LINE, 8);
  roost_map* map = nullptr;
  std::array<char, 300> error{};
  EXPECT_EQ(roost_map_create(&config, &lanes, some.values.data(), &map, error.data(), error.size()),
            ROOST_INVALID);
  EXPECT_STREQ(error.data(),
               "roost_keys: hashes or flight is set, which a map has no use for; leave both NULL");
}

TEST(CMapRefusal, memory_that_is_not_there_is_a_status_of_its_own) {
  const CEntries some = c_entries(8, 10);
  for (const uint32_t kind : {ROOST_MAP_LINE, ROOST_MAP_PARROT}) {
    roost_map_config config = c_map_config(kind, 8);
    config.numa_node = 1'000;
    CMapHandle map;
    const CMapRefusal refusal = c_create_map(config, some, map);
    EXPECT_EQ(refusal.status, ROOST_NO_MEMORY);
    EXPECT_NE(refusal.text.find("NUMA node 1000"), std::string::npos) << refusal.text;
  }
}

TEST(CMapRefusal, rebuilds_that_cannot_be_change_nothing) {
  const CEntries some = c_entries(8, 1'000);
  const CMapHandle map = c_map(c_map_config(ROOST_MAP_LINE, 8), some).value();
  std::array<char, 300> error{};
  const auto adopt = [&] { return roost_map_adopt(map.get(), error.data(), error.size()); };
  EXPECT_EQ(adopt(), ROOST_INVALID);
  EXPECT_STREQ(error.data(), "no rebuild has been begun; roost_map_begin_rebuild() does");
  roost_map_give_up(map.get());

  auto* rebuild = reinterpret_cast<roost_map_rebuild*>(1);
  roost_map_config other = c_map_config(ROOST_MAP_LINE, 6);
  const auto begin = [&](const roost_map_config* config) {
    return roost_map_begin_rebuild(map.get(), config, &rebuild, error.data(), error.size());
  };
  EXPECT_EQ(begin(&other), ROOST_INVALID);
  EXPECT_EQ(rebuild, nullptr);
  EXPECT_STREQ(error.data(),
               "roost_map_config: kind, key_bytes or is_big_endian is not the map's, and a rebuild "
               "keeps them; create another map");
  other.key_bytes = 0;
  EXPECT_EQ(begin(&other), ROOST_INVALID);
  EXPECT_STREQ(error.data(), "roost_map_config: key_bytes is 0; it is 1 to 64");

  EXPECT_EQ(begin(nullptr), ROOST_OK);
  EXPECT_EQ(begin(nullptr), ROOST_INVALID);
  EXPECT_STREQ(error.data(),
               "a rebuild has been begun already; adopt it, or give it up, before the next one");
  EXPECT_EQ(rebuild, nullptr);
  EXPECT_EQ(adopt(), ROOST_INVALID);
  EXPECT_STREQ(error.data(),
               "the rebuild has not been run and is given up; call roost_map_rebuild_run() before");

  // Fewer bits than values have.
  other = c_map_config(ROOST_MAP_LINE, 8);
  other.value_bits = 8;
  EXPECT_EQ(begin(&other), ROOST_OK);
  roost_map_rebuild_run(rebuild);
  EXPECT_EQ(adopt(), ROOST_INVALID);
  EXPECT_NE(std::string(error.data()).find("values of 8 bits are below 255"), std::string::npos)
      << error.data();

  EXPECT_EQ(begin(nullptr), ROOST_OK);
  roost_map_give_up(map.get());
  EXPECT_EQ(roost_map_key_count(map.get()), 1'000U);
  EXPECT_EQ(c_look_up(c_reader(map).get(), some.lanes()).count, 1'000U);
}

}  // namespace
}  // namespace roost
