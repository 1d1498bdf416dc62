// Keys that are looked up in several tables, a mask each: the operations of each way, written by
// hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/software_program.h"
#include "tests/sim/op_text.h"
#include "tests/sim/tuple_tables.h"

namespace roost::sim {
namespace {

constexpr uint64_t kPacketKeys = kLookupAreaAddress;  // of core 0
constexpr uint64_t kTupleWords = kLookupAreaAddress + kLookupAreaBytes / 2;

std::vector<std::string> fetched(Program& program) {
  std::vector<std::string> words;
  for (Op op; program.fetch(op) == Fetch::kOp; op = Op{}) words.push_back(text_of(op));
  return words;
}

TEST(Tuples, blocking_asks_until_a_table_has_the_key) {
  const TupleTables tables(3);
  // Of tables 1, 1, 0, 2, and of none.
  const AskedTuples asked(tables, {1, 4, 3, 5, 9'000});
  LookupProgram program(asked.trace(), {.is_blocking = true}, {.count = 5}, asked.addresses, 16);
  const auto ask = [&](uint64_t key, size_t table, const std::string& branch = "") {
    return at("lookup", kPacketKeys + 64 * key,
              " in " + std::to_string(asked.addresses[table]) + branch);
  };
  const std::string wrong = " unforeseen";
  EXPECT_EQ(fetched(program),
            (std::vector<std::string>{
                // No table had a key so far; then table 1, which is foreseen the second time.
                at("store", kPacketKeys), ask(0, 0), ask(0, 1, wrong),                          //
                at("store", kPacketKeys + 64), ask(1, 0), ask(1, 1),                            //
                at("store", kPacketKeys + 128), ask(2, 0, wrong),                               //
                at("store", kPacketKeys + 192), ask(3, 0, wrong), ask(3, 1, wrong), ask(3, 2),  //
                at("store", kPacketKeys + 256), ask(4, 0), ask(4, 1), ask(4, 2)}));
}

TEST(Tuples, non_blocking_asks_all_at_once_and_reads_lines_until_no_word_is_pending) {
  const TupleTables tables(10);
  const AskedTuples asked(tables, {3, 9});
  LookupProgram program(asked.trace(), {.is_blocking = false}, {.count = 2}, asked.addresses, 16);
  std::vector<std::string> expected = {at("store", kTupleWords), at("store", kTupleWords + 64),
                                       at("store", kPacketKeys)};
  for (size_t table = 0; table < 10; ++table) {
    expected.push_back(at("lookup", kPacketKeys,
                          " in " + std::to_string(asked.addresses[table]) + " to " +
                              std::to_string(kTupleWords + 8 * table)));
  }
  const size_t first_line = expected.size();
  expected.push_back(at("snapshot", kTupleWords));
  expected.push_back(at("snapshot", kTupleWords + 64));
  std::vector<uint32_t> tags;
  std::vector<std::string> ops;
  const auto fetch_all = [&] {
    ops.clear();
    tags.clear();
    for (Op op; program.fetch(op) == Fetch::kOp; op = Op{}) {
      ops.push_back(text_of(op));
      if (op.tag != 0) tags.push_back(op.tag);
    }
  };
  fetch_all();
  EXPECT_EQ(ops, expected);
  ASSERT_EQ(tags.size(), 2U);
  // All of the first line's words are there, one of the second line's is not: that line again.
  const auto words = std::as_bytes(std::span(asked.words).first(10));
  std::array<std::byte, 64> late{};
  std::ranges::copy(words.subspan(64, 8), late.begin());
  program.completed(tags[1], 0, late);
  fetch_all();
  EXPECT_TRUE(ops.empty()) << "the other line was not read yet";
  program.completed(tags.empty() ? (1U << 31) : tags[0], 0, words.first(64));
  fetch_all();
  EXPECT_EQ(ops, (std::vector<std::string>{at("snapshot", kTupleWords + 64)}));
  EXPECT_EQ(program.answered(), 0U);
  std::ranges::copy(words.subspan(64), late.begin());
  program.completed(tags.at(0), 0, late);
  EXPECT_EQ(std::pair(program.answered(), program.found()), std::pair(uint64_t{1}, uint64_t{1}));
  // The next key's words go where the first one's were.
  fetch_all();
  ASSERT_EQ(ops.size(), expected.size());
  EXPECT_EQ(ops[0], at("store", kTupleWords));
  EXPECT_EQ(ops[2], at("store", kPacketKeys + 64));
  EXPECT_EQ(ops[first_line], at("snapshot", kTupleWords));
  EXPECT_EQ(program.wrong(), 0U);
}

TEST(Tuples, as_many_keys_as_fill_a_line_go_together) {
  for (const auto& [tables, keys] :
       std::vector<std::pair<size_t, size_t>>{{1, 8}, {2, 4}, {3, 2}, {4, 2}, {5, 1}, {9, 1}}) {
    const TupleTables made(tables);
    std::vector<uint64_t> numbers(20);
    const AskedTuples asked(made, numbers);
    LookupProgram program(asked.trace(), {.is_blocking = false, .batches_in_flight = 2},
                          {.count = 20}, asked.addresses, 16);
    const std::vector<std::string> ops = fetched(program);
    const auto asks =
        std::ranges::count_if(ops, [](const std::string& op) { return op.starts_with("lookup"); });
    EXPECT_EQ(static_cast<size_t>(asks), 2 * keys * tables) << tables << ": two batches of them";
    const size_t lines = (keys * tables + 7) / 8;
    EXPECT_NE(std::ranges::find(ops, at("store", kTupleWords + 64 * lines)), ops.end())
        << "the second batch's first line is behind the first one's";
    EXPECT_EQ(ops.back(), at("snapshot", kTupleWords + 64 * (lines - 1)));
  }
}

// Masks 1, hash 12, search 7, compare 4; `counts` of zero, so that nothing is filled in.
std::vector<std::string> software_ops(const AskedTuples& asked, uint32_t keys_a_call) {
  const SoftwareCost cost{.name = "made up", .keys_a_call = keys_a_call};
  const Parameters parameters = default_parameters();
  SoftwareProgram program(asked.trace(), cost, {.count = asked.keys.size()}, asked.metadata,
                          asked.memory, parameters);
  std::vector<std::string> ops = fetched(program);
  EXPECT_EQ(program.answered(), asked.keys.size());
  EXPECT_EQ(program.wrong(), 0U);
  return ops;
}

TEST(Tuples, software_masks_the_key_and_goes_on_to_the_next_table) {
  const TupleTables tables(2);
  const AskedTuples asked(tables, {plain_key(tables, 1)});
  const LookupPath first = asked.path(0, 0);
  const LookupPath second = asked.path(0, 1);
  EXPECT_EQ(software_ops(asked, 1),
            (std::vector<std::string>{
                at("store", kPacketKeys),
                // Masked, written, read and hashed; both buckets have no candidate.
                at("load", kPacketKeys), "compute 1 -1", at("store", kTupleWords, " -1"),
                at("load", kTupleWords), "compute 12 -1", at("load", first.looks[0].line, " -1"),
                "compute 7 -1", at("load", first.looks[1].line, " -3"), "compute 7 -1",
                // Not there, as the last time; so on to the next table, where it is.
                "compute 1 -1", at("load", kPacketKeys), "compute 1 -1",
                at("store", kTupleWords, " -1"), at("load", kTupleWords), "compute 12 -1",
                at("load", second.looks[0].line, " -1"), "compute 7 -1 unforeseen",
                at("load", second.looks[0].entries[0], " -1"), "compute 4 -1"}));
}

TEST(Tuples, software_asks_a_table_for_what_those_before_have_not) {
  const TupleTables tables(2);
  const uint64_t here = plain_key(tables, 0);
  const uint64_t there = plain_key(tables, 1);
  const AskedTuples asked(tables, {there, here, there});
  const std::vector<std::string> ops = software_ops(asked, 32);
  // Hashes: of three keys in table 0, of two in table 1.
  EXPECT_EQ(std::ranges::count(ops, "compute 12 -1"), 5);
  // One key was found, which the last time was none: not foreseen, and behind the last key's.
  const auto branch = std::ranges::find_if(ops, [](const std::string& op) {
    return op.starts_with("compute 1 ") && op.ends_with("unforeseen");
  });
  ASSERT_NE(branch, ops.end());
  EXPECT_EQ(std::ranges::count(ops.begin(), branch, "compute 12 -1"), 3);
  EXPECT_EQ(*(branch + 1), at("load", kPacketKeys)) << "the first one again, masked anew";
  EXPECT_EQ(*(branch + 3), at("store", kTupleWords, " -1"));
  const auto second =
      branch + 1 +
      std::distance(branch + 1, std::find(branch + 2, ops.end(), at("load", kPacketKeys + 128)));
  ASSERT_NE(second, ops.end()) << "then the third one; the second one was found";
  EXPECT_EQ(*(second + 2), at("store", kTupleWords + 64, " -1"));
}

}  // namespace
}  // namespace roost::sim
