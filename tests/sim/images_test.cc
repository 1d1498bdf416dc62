// Images that are put into simulated memory: what is taken, and what is refused with a sentence.
#include <gtest/gtest.h>

#include "roost/table/flow_table.h"
#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {
namespace {

using traffic::Key128;
using traffic::Value128;

struct SplitPolicies : DefaultPolicies {
  static constexpr LayoutChoice kLayout = LayoutChoice::kSplit;
};
struct TimedPolicies : SplitPolicies {
  using Expiry = SlotTimers;
};

std::vector<std::byte> copy_of(std::span<const std::byte> image) {
  return {image.begin(), image.end()};
}

std::string refusal(std::span<const std::byte> image) {
  SimulatedMemory memory;
  const Result<uint64_t> put = put_table(memory, kTableAddress, image);
  return put ? "taken" : put.error().message;
}

template <class Policies>
std::vector<std::byte> saved() {
  auto table =
      FlowTable<Key128, Value128, Policies>::create({.entries_max = 500, .hash_seed = 1}).value();
  for (uint64_t i = 0; i < 500; ++i)
    EXPECT_EQ(table.insert(key_of(i), Value128{}), InsertOutcome::kInserted);
  return copy_of(image_of(table));
}

TEST(Images, a_saved_table_is_taken_and_adopted) {
  std::vector<std::byte> image = saved<SplitPolicies>();
  EXPECT_EQ(refusal(image), "taken");
  // The same bytes are a table for programs.
  alignas(64) static std::array<std::byte, 1 << 20> memory;
  ASSERT_LE(image.size(), memory.size());
  std::ranges::copy(image, memory.begin());
  auto adopted = FlowTable<Key128, Value128, SplitPolicies>::adopt(
      {.memory = std::span(memory).first(image.size())});
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ(adopted.value().size(), 500U);
}

TEST(Images, what_cannot_be_looked_up_is_refused) {
  std::vector<std::byte> image = saved<SplitPolicies>();
  EXPECT_NE(refusal(std::span(image).first(100)).find("too few for a table"), std::string::npos);
  EXPECT_NE(refusal(std::span(image).first(image.size() - 64)).find("save the whole image"),
            std::string::npos);
  EXPECT_NE(refusal(saved<TimedPolicies>()).find("timers"), std::string::npos);
  std::vector<std::byte> other = image;
  other[0] = std::byte{'X'};
  EXPECT_NE(refusal(other).find("no image of a table"), std::string::npos);
  other = image;
  other[8] = std::byte{9};
  EXPECT_NE(refusal(other).find("is of format 9"), std::string::npos);
  other = image;
  other[16] = std::byte{'S'};
  EXPECT_NE(refusal(other).find("\"Split, filtered, keyed\""), std::string::npos);
}

// Every field of the header with other values: refused, or taken as a table within its bytes.
TEST(Images, headers_may_be_anything) {
  const std::vector<std::byte> image = saved<SplitPolicies>();
  traffic::Draw draw(6);
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<std::byte> other = image;
    for (uint64_t changes = 1 + draw.below(3); changes > 0; --changes)
      other[draw.below(128)] = static_cast<std::byte>(draw.below(256));
    SimulatedMemory memory;
    const Result<uint64_t> put = put_table(memory, kTableAddress, other);
    if (!put) continue;
    for (uint64_t i = 0; i < 20; ++i) (void)lookup_word(memory, put.value(), bytes_of(key_of(i)));
  }
}

TEST(Images, a_damaged_table_fails_its_audit) {
  std::vector<std::byte> image = saved<SplitPolicies>();
  SimulatedMemory memory;
  const uint64_t table = put_table(memory, kTableAddress, image).value();
  EXPECT_EQ(audit_table(memory, table), std::nullopt);
  const TableMetadata metadata = *TableMetadata::of_line(memory.read_line(line_of(table)));
  const uint64_t word = memory.read_word(metadata.entries);
  for (uint64_t offset = 0; offset < uint64_t{500} * 8; offset += 8)
    memory.write_word(metadata.entries + offset, ~word);
  EXPECT_NE(audit_table(memory, table), std::nullopt);
}

TEST(Images, an_audited_image_says_what_it_holds) {
  const std::vector<std::byte> image = saved<SplitPolicies>();
  const Result<AuditedTable> audited = audit_image(image);
  ASSERT_TRUE(audited.ok()) << audited.error().message;
  EXPECT_EQ(audited.value().entries, 500U);
  EXPECT_EQ(audited.value().metadata.key_bytes, 16);
  SimulatedMemory memory;
  const uint64_t table = put_table(memory, kTableAddress, image).value();
  EXPECT_TRUE(is_found(lookup_word(memory, table, audited.value().some_key)));
  std::vector<std::byte> damaged = image;
  const size_t entries = audited.value().metadata.entries - ImageHeader::kBytes;
  for (size_t i = entries; i < entries + 4000; ++i) damaged[i] = ~damaged[i];
  EXPECT_EQ(
      audit_image(damaged).error().message.rfind("the table is damaged: the entry in slot", 0), 0U);
  EXPECT_EQ(audit_image(std::span(image).first(image.size() - 1)).error().message,
            refusal(std::span(image).first(image.size() - 1)));
}

TEST(Images, paper_tables_reach_the_load_of_two_choices_of_eight) {
  PaperTable table = PaperTable::create({.buckets = 512, .entries = 4096, .seed = 1}).value();
  uint64_t held = 0;
  for (; held < 4096; ++held) {
    const Key128 key = key_of(held);
    if (!table.insert(std::as_bytes(std::span(&key, 1)), held)) break;
  }
  EXPECT_GT(held, 4096U * 95 / 100);
  SimulatedMemory memory;
  const uint64_t address = put_table(memory, kTableAddress, image_of(table)).value();
  EXPECT_EQ(audit_table(memory, address), std::nullopt);
  for (uint64_t i = 0; i < held; ++i)
    ASSERT_EQ(lookup_word(memory, address, bytes_of(key_of(i))), found_word(i));
}

TEST(Images, metadata_lines_say_what_they_were_made_of) {
  const std::array<std::byte, 3> mask{std::byte{0xFF}, std::byte{0xF0}, std::byte{0}};
  TableMetadata table = PaperTable::create({.buckets = 4, .entries = 4}).value().metadata();
  table.mask = KeyMask::of(mask).value();
  const auto again = TableMetadata::of_line(table.line());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->line(), table.line());
  EXPECT_EQ(again->mask->whole_bytes, 1U);
  EXPECT_EQ(again->mask->parts[0].bits, 0xF0);
  EXPECT_FALSE(TableMetadata::of_line(LineBytes{}).has_value());
  std::array<std::byte, 5> too_many;
  too_many.fill(std::byte{1});
  EXPECT_FALSE(KeyMask::of(too_many).ok());
}

}  // namespace
}  // namespace roost::sim
