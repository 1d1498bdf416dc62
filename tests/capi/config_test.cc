// Creation: what a configuration may say, what refuses it in which words, and callers that were
// compiled against an older or newer header.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "capi/roost.h"
#include "roost/isa/isa.h"
#include "tests/capi/c_table.h"
#include "tests/capi/config_refusal.h"

namespace roost {
namespace {

roost_config good() { return c_config(8, 8, 64); }

void ignore(void* /*context*/, const void* /*key*/, const void* /*value*/) {}

TEST(CConfig, key_and_value_sizes_out_of_range_are_refused) {
  roost_config config = good();
  config.key_bytes = 0;
  expect_invalid(config, "roost_config: key_bytes is 0; it is 1 to 64");
  config.key_bytes = 65;
  expect_invalid(config, "roost_config: key_bytes is 65; it is 1 to 64");
  config = good();
  config.value_bytes = 257;
  expect_invalid(config,
                 "roost_config: value_bytes is 257; it is 0 to 256; keep larger records elsewhere "
                 "and their index here");
  config = good();
  config.key_bits = 65;
  expect_invalid(config, "roost_config: key_bits is 65; keys of 8 bytes have 64");
}

TEST(CConfig, capacities_and_promises_out_of_range_are_refused) {
  roost_config config = good();
  config.capacity = 0;
  expect_invalid(config,
                 "a capacity of 0 slots is out of range; set 16 to 1099511627776, or none and "
                 "entries_max");
  config.capacity = (uint64_t{1} << 40) + 1;
  expect_invalid(config,
                 "a capacity of 1099511627777 slots is out of range; set 16 to 1099511627776, or "
                 "none and entries_max");
  config.capacity = 64;
  config.entries_max = 64;
  expect_invalid(config,
                 "a capacity of 64 slots can promise to hold 60 entries, not 64; ask for fewer, or "
                 "leave the capacity to the table");
}

TEST(CConfig, fields_that_no_version_has_are_refused) {
  roost_config config = good();
  config.pages = 5;
  expect_invalid(config, "roost_config: pages is 5; it is one of roost_pages");
  config = good();
  config.reserved[5] = 1;
  expect_invalid(config, "roost_config: reserved is not zero; begin with roost_config_init()");
  config = good();
  config.numa_node = -2;
  expect_invalid(config, "roost_config: numa_node is -2; it is a node's number, or -1 for any");
}

TEST(CConfig, a_kernel_that_is_not_here_is_refused_with_those_that_are) {
  roost_config config = good();
  config.kernel = "avx1024";
  std::string names;
  for (const Isa isa : isas_built())
    if (isa_is_supported(isa)) names += (names.empty() ? "" : ", ") + std::string(isa_name(isa));
  expect_invalid(config, "roost_config: kernel is \"avx1024\"; here it is one of " + names +
                             ", or NULL for the best");
}

TEST(CConfig, a_hint_that_there_is_not_is_refused_and_others_are_kept) {
  roost_config config = good();
  config.line_hint = "T9";
  expect_invalid(config,
                 "roost_config: line_hint is \"T9\"; it is T0, T1 or NTA, or NULL for the fastest");
  for (const char* name : {"T0", "T1", "NTA"}) {
    config.line_hint = name;
    const CTableHandle table = c_create(config).value();
    roost_stats stats = {};
    stats.size = sizeof(stats);
    ASSERT_EQ(roost_table_stats(table.get(), &stats), ROOST_OK);
    EXPECT_STREQ(stats.line_hint, name);
    EXPECT_EQ(stats.hint_rounds, 0U);
  }
}

TEST(CConfig, fields_without_effect_are_refused) {
  roost_config config = good();
  config.on_expiry = ignore;
  expect_invalid(config,
                 "roost_config: on_expiry is set, but entries do not expire; set expires, or leave "
                 "it NULL");
  config = good();
  config.hash_seed = 9;
  expect_invalid(config,
                 "roost_config: hash_seed is set without has_hash_seed; set both, or leave it 0");
  alignas(64) static std::array<std::byte, 64> memory;
  config = good();
  config.memory_bytes = 64;
  expect_invalid(config,
                 "roost_config: memory and memory_bytes go together; set both, or neither, and the "
                 "table maps its own");
  config.memory = memory.data();
  expect_invalid(config,
                 "roost_config: memory is lent, but pages or numa_node say what to map; leave them "
                 "alone");
}

TEST(CConfig, an_error_is_cut_to_the_room_there_is_and_may_be_left_out) {
  roost_config config = good();
  config.key_bytes = 65;
  roost_table* table = nullptr;
  std::array<char, 13> error{};
  EXPECT_EQ(roost_table_create(&config, &table, error.data(), error.size()), ROOST_INVALID);
  EXPECT_STREQ(error.data(), "roost_config");
  EXPECT_EQ(roost_table_create(&config, &table, nullptr, 0), ROOST_INVALID);
  EXPECT_EQ(roost_table_create(&config, &table, error.data(), 0), ROOST_INVALID);
}

TEST(CConfig, memory_that_cannot_be_allocated_is_a_status_of_its_own) {
  roost_config config = good();
  config.pages = ROOST_PAGES_1GIB;
  config.capacity = uint64_t{1} << 38;
  const Refusal refusal = refusal_of(config);
  EXPECT_EQ(refusal.status, ROOST_NO_MEMORY);
  EXPECT_NE(refusal.text.find("no memory for an arena of "), std::string::npos) << refusal.text;
}

TEST(CConfig, a_node_that_is_not_there_is_refused) {
  roost_config config = good();
  config.numa_node = 1000;
  const Refusal refusal = refusal_of(config);
  EXPECT_EQ(refusal.status, ROOST_NO_MEMORY);
  EXPECT_NE(refusal.text.find("NUMA node 1000"), std::string::npos) << refusal.text;
}

TEST(CConfig, lent_memory_of_the_size_told_is_enough_and_a_byte_less_is_not) {
  for (const uint32_t key_bytes : {1U, 8U, 13U, 20U, 32U, 40U, 64U}) {
    roost_config config = c_config(key_bytes, 10, 200);
    config.layout = ROOST_LAYOUT_AUTOMATIC;
    config.pages = ROOST_PAGES_LARGEST;
    config.entries_max = 100;
    uint64_t bytes = 0;
    ASSERT_EQ(roost_table_bytes(&config, &bytes, nullptr, 0), ROOST_OK);
    std::vector<uint64_t> memory(bytes / 8 + 16, 0xEEEE'EEEE'EEEE'EEEE);
    char* start =
        reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    config.memory = start;
    config.memory_bytes = bytes;
    {
      const CTableHandle table = c_create(config).value();
      EXPECT_EQ(roost_table_audit(table.get(), nullptr), ROOST_OK) << "what lay there is forgotten";
      roost_info info;
      info.size = sizeof(info);
      roost_table_info(table.get(), &info);
      EXPECT_STREQ(info.pages, "caller's");
      EXPECT_EQ(info.mapped_bytes, bytes);
    }
    config.memory_bytes = bytes - 1;
    Refusal refusal = refusal_of(config);
    EXPECT_EQ(refusal.status, ROOST_NO_MEMORY);
    EXPECT_NE(refusal.text.find("the memory lent to the table has"), std::string::npos);
    config.memory = start + 8;
    config.memory_bytes = bytes;
    refusal = refusal_of(config);
    EXPECT_EQ(refusal.status, ROOST_NO_MEMORY);
    EXPECT_NE(refusal.text.find("not aligned to 64 bytes"), std::string::npos);
  }
}

TEST(CConfig, the_table_tells_what_it_became) {
  roost_config config = c_config(13, 10, 0);
  config.entries_max = 1000;
  config.kernel = "scalar";
  config.expires = true;
  const CTableHandle table = c_create(config).value();
  roost_info info;
  info.size = sizeof(info);
  ASSERT_EQ(roost_table_info(table.get(), &info), ROOST_OK);
  EXPECT_EQ(info.size, sizeof(info));
  EXPECT_GE(info.capacity, 1000U);
  EXPECT_EQ(info.entries_max, 1000U);
  EXPECT_EQ(info.bucket_count, info.capacity / 8 + 2);
  EXPECT_GT(info.memory_bytes, info.capacity * 40);
  EXPECT_GE(info.mapped_bytes, info.capacity * 40);
  EXPECT_STREQ(info.pages, "4 KiB");
  EXPECT_STREQ(info.kernel, "scalar");
  EXPECT_EQ(info.key_bytes, 13U);
  EXPECT_EQ(info.value_bytes, 10U);
  EXPECT_EQ(info.numa_node, -1);
  EXPECT_EQ(info.expires, 1U);
}

TEST(CConfig, the_same_seed_gives_the_same_hashes_and_no_seed_gives_others) {
  const auto hash_of = [](bool has_seed, uint64_t seed) {
    roost_config config = good();
    config.has_hash_seed = has_seed;
    config.hash_seed = seed;
    const uint64_t key = 5;
    uint64_t hash = 0;
    roost_keys keys{};
    keys.keys = &key;
    keys.count = 1;
    roost_table_hash(c_create(config).value().get(), &keys, &hash);
    return hash;
  };
  EXPECT_EQ(hash_of(true, 3), hash_of(true, 3));
  EXPECT_NE(hash_of(true, 3), hash_of(true, 4));
  EXPECT_NE(hash_of(false, 0), hash_of(false, 0));
}

// What a program's roost_config looks like when its header has fewer fields.
struct OldConfig {
  size_t size;
  uint32_t key_bytes;
  uint32_t value_bytes;
  uint64_t capacity;
  uint64_t behind;  // not of the struct
};
constexpr size_t kOldBytes = offsetof(OldConfig, behind);

// And when it has more.
struct NewConfig {
  roost_config known;
  uint64_t unknown;
};

TEST(CConfig, an_older_callers_configuration_has_the_defaults_for_the_rest) {
  OldConfig old;
  old.behind = 77;
  roost_config_init(reinterpret_cast<roost_config*>(&old), kOldBytes);
  EXPECT_EQ(old.size, kOldBytes);
  EXPECT_EQ(old.behind, 77U) << "nothing is written behind the caller's struct";
  old.key_bytes = 8;
  old.value_bytes = 32;
  old.capacity = 64;
  old.behind = 1'000'000;  // would be entries_max
  const CTableHandle table = c_create(reinterpret_cast<const roost_config*>(&old)).value();
  roost_info info;
  info.size = sizeof(info);
  roost_table_info(table.get(), &info);
  EXPECT_EQ(info.capacity, 64U);
  EXPECT_EQ(info.entries_max, 0U);
  EXPECT_EQ(info.numa_node, -1);
}

TEST(CConfig, a_newer_callers_configuration_works_unless_it_asks_for_what_is_not_there) {
  NewConfig newer;
  newer.unknown = 77;
  roost_config_init(&newer.known, sizeof(newer));
  EXPECT_EQ(newer.unknown, 0U);
  newer.known.key_bytes = 8;
  newer.known.capacity = 64;
  EXPECT_EQ(refusal_of(newer.known).status, ROOST_OK);
  newer.unknown = uint64_t{1} << 56;
  expect_invalid(newer.known,
                 "roost_config: a field is set that this version of the library does not have; "
                 "leave it zero, or use the library of the header that the program was compiled "
                 "with");
}

TEST(CConfig, a_size_that_is_none_is_refused) {
  roost_config config = good();
  config.size = 0;
  expect_invalid(config,
                 "roost_config: size is 0; let roost_config_init() set it to sizeof(roost_config)");
}

// Calls `tell` with room for less and for more than the struct, and a size that is none.
template <class Struct, class Tell>
void expect_sized(Tell&& tell) {
  constexpr size_t kOld = 24;
  std::vector<unsigned char> whole(sizeof(Struct));
  auto& all = *reinterpret_cast<Struct*>(whole.data());
  all.size = sizeof(Struct);
  EXPECT_EQ(tell(&all), ROOST_OK);

  std::vector<unsigned char> bytes(sizeof(Struct) + 16, 0xEE);
  auto& part = *reinterpret_cast<Struct*>(bytes.data());
  part.size = kOld;
  EXPECT_EQ(tell(&part), ROOST_OK);
  EXPECT_EQ(part.size, kOld);
  EXPECT_TRUE(std::equal(bytes.begin() + 8, bytes.begin() + kOld, whole.begin() + 8));
  EXPECT_EQ(std::count(bytes.begin() + kOld, bytes.end(), 0xEE),
            static_cast<ptrdiff_t>(bytes.size() - kOld))
      << "nothing is written behind the caller's struct";

  part.size = sizeof(Struct) + 8;
  EXPECT_EQ(tell(&part), ROOST_OK);
  EXPECT_EQ(part.size, sizeof(Struct));
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), bytes.begin()));
  EXPECT_EQ(std::count(bytes.begin() + sizeof(Struct), bytes.begin() + sizeof(Struct) + 8, 0), 8)
      << "fields that this library does not know become zero";
  EXPECT_EQ(bytes[sizeof(Struct) + 8], 0xEE);

  part.size = 4;
  EXPECT_EQ(tell(&part), ROOST_INVALID);
}

TEST(CConfig, structs_that_the_library_fills_may_be_older_or_newer_than_it) {
  const CTableHandle table = c_create(good()).value();
  expect_sized<roost_info>([&](roost_info* info) { return roost_table_info(table.get(), info); });
  expect_sized<roost_stats>(
      [&](roost_stats* stats) { return roost_table_stats(table.get(), stats); });
}

TEST(CConfig, a_violation_of_no_size_is_refused) {
  const CTableHandle table = c_create(good()).value();
  roost_violation violation{};
  EXPECT_EQ(roost_table_audit(table.get(), &violation), ROOST_INVALID);
}

}  // namespace
}  // namespace roost
