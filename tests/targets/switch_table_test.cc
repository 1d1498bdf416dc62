// What of an image becomes of tables and registers of a switch, and which images cannot.
#include "targets/switch/switch_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "roost/compact/crc8.h"
#include "targets/switch/switch_export.h"
#include "tests/base/step_count.h"
#include "tests/targets/switch_sets.h"

namespace roost::targets {
namespace {

// Every key's bucket, and those at both ends of buckets, as the longest prefix says.
void expect_model(const SwitchTable& table, const compact::ParrotBuilder& builder,
                  const std::vector<uint64_t>& keys) {
  const auto reader = compact::reader_of(builder);
  const LongestPrefixes prefixes(table.ranges);
  std::vector<uint64_t> asked = asked_of(keys, 7);
  for (const compact::ModelLine& line : reader.model().lines())
    asked.insert(asked.end(), {line.key - 1, line.key});
  for (const uint64_t address : asked) {
    const uint64_t number = address & kSwitchKeyMask;
    ASSERT_EQ(prefixes.bucket_of(number), reader.model().bucket_of(number)) << number;
  }
}

TEST(SwitchTable, ranges_are_the_model_s) {
  const auto keys = compact::random_keys(step_count(20'000), 1);
  for (const bool has_steps : {true, false}) {
    const compact::ParrotBuilder builder = table_of({.has_steps = has_steps}, keys);
    const SwitchTable table = SwitchTable::of_image(builder.image()).value();
    expect_model(table, builder, keys);
    const double prefixes = static_cast<double>(table.ranges.size());
    const double buckets = static_cast<double>(builder.report().buckets);
    if (has_steps) {
      EXPECT_LT(prefixes, 2 * buckets);
    } else {
      EXPECT_GT(prefixes, 6 * buckets);
    }
  }
  // Steps of four keys: fewer than two prefixes for four of them.
  const compact::ParrotBuilder fours = table_of({.model = kFourKeys}, keys);
  const SwitchTable table = SwitchTable::of_image(fours.image()).value();
  expect_model(table, fours, keys);
  EXPECT_LT(static_cast<double>(table.ranges.size()) / static_cast<double>(keys.size()), 0.47);
}

TEST(SwitchTable, has_every_key_where_a_packet_gets) {
  const auto keys = compact::random_keys(step_count(20'000), 2);
  for (const auto& config : {compact::ParrotBuilder::Config{.has_steps = true},
                             compact::ParrotBuilder::Config{
                                 .model = compact::ModelChoice{compact::ModelKind::kSteps, 9}}}) {
    const compact::ParrotBuilder builder = table_of(config, keys);
    for (uint32_t reads = 0; reads <= kStashReadsMax; ++reads) {
      const SwitchTable table = SwitchTable::of_image(builder.image(), reads).value();
      EXPECT_EQ(table.stashed + table.overflow.size(), builder.report().stashed);
      if (reads == 0) {
        EXPECT_EQ(table.stashed, 0U);
      }
      EXPECT_EQ(table.cells(Register::kSeeds).size(), table.bucket_count);
      EXPECT_EQ(table.cells(Register::kValues).size(), 4 * table.bucket_count);
      // From 1, and once more the last.
      EXPECT_EQ(table.cells(Register::kStashKeys).size(), table.stashed + 2);
      EXPECT_EQ(table.cells(Register::kStashValues).size(), table.stashed + 2);
      const auto values = table.cells(Register::kValues);
      const auto absent = std::ranges::count(values, uint64_t{0xffff});
      EXPECT_EQ(values.size() - static_cast<size_t>(absent) + builder.report().stashed,
                keys.size());
      EXPECT_LE(std::ranges::max(table.cells(Register::kStashFirst)), table.stashed);
    }
  }
}

// Bytes of a CRC follow each other by the table, as the steps have them.
TEST(SwitchTable, crc8_cells_are_the_crc_of_a_byte) {
  const auto cells = SwitchTable::of_image(table_of({}, {1}).image()).value().registers.back();
  ASSERT_EQ(cells.size(), 256U);
  uint64_t crc = 0;
  for (const char digit : std::string("123456789")) crc = cells[crc ^ static_cast<uint8_t>(digit)];
  EXPECT_EQ(crc, 0xa2U);
}

TEST(SwitchTable, refuses_what_a_switch_cannot) {
  const auto refusal = [](const compact::ParrotBuilder::Config& config, uint32_t reads = 2) {
    const auto table = SwitchTable::of_image(table_of(config, {1, 2, 3}).image(), reads);
    return table ? std::string() : table.error().message;
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.key_bits = 32}), "");
  EXPECT_NE(refusal({.key_bits = 64}).find("keys of 64 bits"), std::string::npos);
  EXPECT_NE(refusal({.fingerprint_bits = 8}).find("fingerprints"), std::string::npos);
  EXPECT_NE(refusal({}, 3).find("2 entries of the stash"), std::string::npos);
  const compact::ParrotBuilder table = table_of({}, {1, 2, 3});
  std::vector<std::byte> bytes = table.exported();
  EXPECT_TRUE(SwitchTable::of_image(bytes));
  bytes.back() ^= std::byte{1};
  EXPECT_FALSE(SwitchTable::of_image(bytes));
  EXPECT_FALSE(SwitchTable::of_image(std::span(bytes).first(100)));
}

// The audit does not compute where lines lead to.
TEST(SwitchTable, refuses_a_model_that_falls) {
  const compact::ParrotBuilder table =
      table_of({.model = compact::ModelChoice{compact::ModelKind::kSpline, 1}},
               compact::random_keys(1'000, 3));
  const std::vector<std::byte> good(table.image().begin(), table.image().end());
  const auto offset = compact::reader_of(table).head().lines_offset;
  ASSERT_TRUE(SwitchTable::of_image(good));
  std::vector<std::byte> changed = good;
  changed[offset + offsetof(compact::ModelLine, key_shift)] = std::byte{0};
  changed[offset + offsetof(compact::ModelLine, slope_shift)] = std::byte{40};
  const auto refused = SwitchTable::of_image(changed);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("damaged"), std::string::npos);
}

// Of bytes that anybody made there is a table that says what the reader says, or none.
TEST(SwitchTable, takes_any_bytes_or_refuses_them) {
  const auto keys = compact::vendor_keys(500, 5);
  const compact::ParrotBuilder builder = table_of({.model = kSixKeys}, keys);
  const std::vector<std::byte> good(builder.image().begin(), builder.image().end());
  const auto asked = asked_of(keys, 6);
  traffic::Draw draw(7);
  uint64_t taken = 0;
  for (uint64_t i = 0; i < step_count(2'000); ++i) {
    std::vector<std::byte> changed = good;
    const size_t span = i % 2 == 0 ? sizeof(compact::ParrotHead) + 400 : good.size();
    for (uint64_t flips = 1 + draw.below(3); flips > 0; --flips)
      changed[draw.below(span)] ^= static_cast<std::byte>(1U << draw.below(8));
    const auto table = SwitchTable::of_image(changed);
    if (!table) continue;
    ++taken;
    const auto reader = compact::ParrotReader::open(changed).value();
    const LongestPrefixes prefixes(table.value().ranges);
    for (const uint64_t address : asked)
      ASSERT_EQ(prefixes.bucket_of(address), reader.model().bucket_of(address)) << address;
  }
  EXPECT_GT(taken, step_count(2'000) / 10);
}

// 100,000 buckets with exact borders are more than any switch has room for.
TEST(SwitchTable, refuses_many_exact_borders) {
  const auto keys = compact::random_keys(1'000, 4);
  const auto refused = SwitchTable::of_image(table_of({.load = 0.002}, keys).image());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("build it with steps"), std::string::npos);
}

TEST(SwitchProgram, refuses_ports_that_cannot_be) {
  EXPECT_TRUE(SwitchProgram::create({.port_count = 1}));
  EXPECT_FALSE(SwitchProgram::create({.port_count = 0}));
  EXPECT_TRUE(SwitchProgram::create({.port_count = kPortCountMax}));
  EXPECT_FALSE(SwitchProgram::create({.port_count = kPortCountMax + 1}));
}

// A field that a packet did not set has what the packet before it left.
TEST(SwitchProgram, reads_no_field_before_it_is_set) {
  for (const bool has_keys : {false, true}) {
    for (uint32_t reads = 0; reads <= kStashReadsMax; ++reads) {
      const auto program =
          SwitchProgram::create({.has_keys = has_keys, .stash_reads = reads}).value();
      std::array<bool, kFieldCount> is_set{};
      is_set[static_cast<size_t>(Field::kDestination)] = true;
      size_t depth = 0;
      for (const Step& step : program.steps) {
        if (step.from.field) {
          EXPECT_TRUE(is_set[static_cast<size_t>(*step.from.field)]) << name_of(*step.from.field);
        }
        const bool sets = step.operation == Operation::kSet || step.operation == Operation::kRead;
        const bool is_if = step.operation == Operation::kIfEqual ||
                           step.operation == Operation::kIfDifferent ||
                           step.operation == Operation::kIfBelow;
        if (step.operation == Operation::kLookUp && step.table == Table::kRanges)
          is_set[static_cast<size_t>(Field::kBucket)] = true;
        if (step.operation == Operation::kLookUp || step.operation == Operation::kEnd) {
          if (step.operation == Operation::kEnd) --depth;
          continue;
        }
        if (!sets) {
          EXPECT_TRUE(is_set[static_cast<size_t>(step.to)]) << name_of(step.to);
        }
        is_set[static_cast<size_t>(step.to)] = true;
        if (is_if) ++depth;
      }
      EXPECT_EQ(depth, 0U);
    }
  }
}

TEST(SwitchExport, writes_files_for_each_target) {
  const compact::ParrotBuilder table = table_of({.model = kSixKeys}, compact::dense_keys(100));
  const auto names = [](const Result<std::vector<ExportedFile>>& files) {
    std::string all;
    for (const ExportedFile& file : files.value()) {
      EXPECT_TRUE(file.text.empty() || file.text.back() == '\n') << file.name;
      all += file.name + " ";
    }
    return all;
  };
  EXPECT_EQ(names(export_swx(table.image(), {})),
            "parrot.spec ranges.txt overflow.txt registers.cli ");
  EXPECT_EQ(names(export_p4(table.image(), {})), "parrot.p4 parrot.commands ");
  EXPECT_EQ(names(export_report(table.image(), {})), "tofino.txt ");
  for (const auto& exported :
       {export_swx({}, {}), export_p4({}, {}), export_report({}, {}),
        export_swx(table.image(), {.port_count = 0}), export_p4(table.image(), {.stash_reads = 3})})
    EXPECT_FALSE(exported);
}

}  // namespace
}  // namespace roost::targets
