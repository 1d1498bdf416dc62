// The arithmetic of the resource report, against values computed by hand.
#include "targets/switch/tofino_report.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/targets/switch_sets.h"

namespace roost::targets {
namespace {

const TofinoPart& part_of(const TofinoReport& report, const std::string& name) {
  for (const TofinoPart& part : report.parts)
    if (part.name == name) return part;
  ADD_FAILURE() << "no part " << name;
  return report.parts.front();
}

// An entry of a key, 4 bits and a value of 16 has 68 bits: one a word. 1000 entries are filled to
// 80 % of 1250 words, which are 2 blocks; ways make them 4. 8000 take 10,000 words: 10 blocks. With
// values of 8 bits (60) a word has two.
TEST(TofinoReport, exact_matches_take_words) {
  EXPECT_EQ(exact_match_blocks(0, 16), 0U);
  EXPECT_EQ(exact_match_blocks(1, 16), 4U);
  EXPECT_EQ(exact_match_blocks(1'000, 16), 4U);
  EXPECT_EQ(exact_match_blocks(8'000, 16), 10U);
  EXPECT_EQ(exact_match_blocks(8'000, 8), 5U);
  EXPECT_EQ(exact_match_blocks(8'192, 16), 10U);
  EXPECT_EQ(exact_match_blocks(8'193, 16), 11U);
}

// 16 cells of 8 bits a word are 16,384 a block; 8 of 16 bits 8,192; 2 of 64 bits 2,048.
TEST(TofinoReport, registers_take_words) {
  EXPECT_EQ(register_blocks(1, 8), 1U);
  EXPECT_EQ(register_blocks(16'384, 8), 1U);
  EXPECT_EQ(register_blocks(16'385, 8), 2U);
  EXPECT_EQ(register_blocks(uint64_t{8'192} * 5, 16), 5U);
  EXPECT_EQ(register_blocks(2'049, 64), 2U);
}

// 10,000 keys in 2,500 buckets of four, 7,500 prefixes, 16 overflow.
//   overflow   4 blocks, stage 1
//   ranges     48 + 4 bits: 2 blocks wide; 7,500 / 512: 15 rows, 12 in stage 1, 3 in stage 2
//              bucket words: 12 x 512 / 4 = 1,536 words, 2 blocks; 3 x 512 / 4 = 384, 1 block
//   seeds      2,500 cells of 8 bits: 1 block and a spare, stage 3
//   + seed, CRC-8, slot: stages 4, 5, 6
//   values     10,000 cells of 16 bits: 2 blocks and a spare, stage 7
//   answer     stage 8
TEST(TofinoReport, a_small_table_without_stash) {
  const TofinoReport report = tofino_report(
      {.keys = 10'000, .prefixes = 7'500, .overflow = 16, .buckets = 2'500, .value_bits = 16});
  const auto expect_part = [&](const std::string& name, uint64_t sram, uint64_t tcam,
                               uint64_t first, uint64_t last) {
    const TofinoPart& part = part_of(report, name);
    EXPECT_EQ(part.sram_blocks, sram) << name;
    EXPECT_EQ(part.tcam_blocks, tcam) << name;
    EXPECT_EQ(part.first_stage + 1, first) << name;
    EXPECT_EQ(part.last_stage + 1, last) << name;
  };
  expect_part("overflow", 4, 0, 1, 1);
  expect_part("ranges", 3, 30, 1, 2);
  expect_part("seeds", 2, 0, 3, 3);
  expect_part("key + seed", 0, 0, 4, 4);
  expect_part("CRC-8", 0, 0, 5, 5);
  expect_part("slot", 0, 0, 6, 6);
  expect_part("values", 3, 0, 7, 7);
  expect_part("answer", 0, 0, 8, 8);
  EXPECT_EQ(report.parts.size(), 8U);
  EXPECT_EQ(report.stages, 8U);
  EXPECT_EQ(report.sram_blocks, 12U);
  EXPECT_EQ(report.tcam_blocks, 30U);
  EXPECT_TRUE(report.fits());
}

// The stash is asked beside the seed: first entries in stage 3, the rest in stage 4, each read with
// registers of its own. 1,000 buckets with a stash: a block of 64-bit cells (2,048) and one of
// 16-bit ones. 2,500 first entries of 32 bits: a block. All with a spare. 4 stateful units a stage
// are just enough.
TEST(TofinoReport, each_read_of_the_stash_has_its_own_registers) {
  const TofinoReport report = tofino_report({.keys = 12'000,
                                             .prefixes = 7'500,
                                             .buckets = 2'500,
                                             .stashed_buckets = 1'000,
                                             .stash_reads = 2});
  EXPECT_EQ(part_of(report, "stash_first").first_stage + 1, 3U);
  EXPECT_EQ(part_of(report, "stash_first").sram_blocks, 2U);
  for (const char* name : {"stash_keys, read 1", "stash_keys, read 2", "stash_values, read 1",
                           "stash_values, read 2"}) {
    EXPECT_EQ(part_of(report, name).first_stage + 1, 4U) << name;
    EXPECT_EQ(part_of(report, name).sram_blocks, 2U) << name;
    EXPECT_EQ(part_of(report, name).stateful_units, 1U) << name;
  }
  EXPECT_EQ(report.stages, 8U);
}

// 1,000,000 slots of 16 bits are 123 blocks: parts of 23 take 5 and one of 8. A stage has 48 map
// RAMs: two of the large parts, so three stages, and the small one stands beside the fifth.
TEST(TofinoReport, large_registers_are_cut_into_parts) {
  const TofinoReport report =
      tofino_report({.keys = 1'000'000, .prefixes = 100, .buckets = 250'000});
  const TofinoPart& values = part_of(report, "values");
  EXPECT_EQ(values.sram_blocks, 123U + 6U);
  EXPECT_EQ(values.stateful_units, 6U);
  EXPECT_EQ(values.last_stage - values.first_stage, 2U);
  // Seeds: 250,000 / 16,384: 16 blocks and a spare.
  EXPECT_EQ(part_of(report, "seeds").sram_blocks, 17U);
}

TEST(TofinoReport, kept_keys_take_cells_of_64_bits) {
  const TofinoReport report =
      tofino_report({.keys = 8'000, .prefixes = 100, .buckets = 2'048, .has_keys = true});
  // 8,192 slots, 2,048 a block.
  EXPECT_EQ(part_of(report, "slot_keys").sram_blocks, 4U + 1U);
  EXPECT_EQ(part_of(report, "slot_keys").first_stage, part_of(report, "values").first_stage);
}

// Of 12 stages, 6 are behind the ranges: 6 x 6,144 prefixes are the most that fit. A table with a
// prefix a key and few buckets has as many keys.
TEST(TofinoReport, the_largest_table_is_the_last_that_fits) {
  const SwitchSizes sizes{.keys = 1'000, .prefixes = 1'000, .buckets = 10};
  const TofinoReport report = tofino_report(sizes);
  EXPECT_EQ(report.keys_max, 6U * 6'144U);
  EXPECT_TRUE(tofino_report(sizes.scaled_to(report.keys_max)).fits());
  EXPECT_FALSE(tofino_report(sizes.scaled_to(report.keys_max + 1)).fits());
}

TEST(TofinoReport, sizes_are_the_image_s) {
  const auto keys = compact::random_keys(10'000, 1);
  const compact::ParrotBuilder builder = table_of({.model = kSixKeys}, keys);
  const SwitchTable table = SwitchTable::of_image(builder.image()).value();
  const SwitchSizes sizes = SwitchSizes::of(table);
  EXPECT_EQ(sizes.keys, keys.size());
  EXPECT_EQ(sizes.prefixes, table.ranges.size());
  EXPECT_EQ(sizes.overflow, table.overflow.size());
  EXPECT_EQ(sizes.buckets, (keys.size() + 5) / 6);
  EXPECT_EQ(sizes.stashed_buckets, keys.size() / 6);
  EXPECT_EQ(sizes.stash_reads, 2U);
  const std::string text = tofino_report(sizes).text();
  EXPECT_NE(text.find("analytic"), std::string::npos);
  EXPECT_NE(text.find("nothing is said of rates"), std::string::npos);
  EXPECT_NE(text.find("The largest table of such keys that fits: "), std::string::npos);
}

}  // namespace
}  // namespace roost::targets
