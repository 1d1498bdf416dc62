// Software that looks keys up: the operations of each way, written by hand; how many they are.
#include "sim/software_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/table/flow_table.h"
#include "sim/lookup_run.h"
#include "sim/saved_table.h"
#include "tests/sim/lookup_scene.h"
#include "tests/sim/op_text.h"

namespace roost::sim {
namespace {

constexpr uint64_t kKeys = kLookupAreaAddress;  // of core 0
SoftwareCost cost_of(uint32_t keys_a_call, InstructionCounts counts = {}) {
  return {.name = "made up", .keys_a_call = keys_a_call, .hit = counts, .miss = counts};
}

// A table's keys by number, and the program that looks some up.
class Asked {
 public:
  explicit Asked(std::vector<KeyBytes> keys, const SimulatedMemory& memory, uint64_t table)
      : keys_(std::move(keys)) {
    for (const KeyBytes& key : keys_) words_.push_back(lookup_word(memory, table, key));
  }
  std::vector<Op> ops(const SoftwareCost& cost, const TableMetadata& table,
                      const SimulatedMemory& memory) {
    SoftwareProgram program({keys_, words_}, cost, {.count = keys_.size()}, {&table, 1}, memory,
                            parameters_);
    std::vector<Op> ops;
    for (Op op; program.fetch(op) == Fetch::kOp; op = Op{}) ops.push_back(op);
    EXPECT_EQ(program.answered(), keys_.size());
    EXPECT_EQ(program.wrong(), 0U);
    EXPECT_EQ(program.found(), static_cast<uint64_t>(std::ranges::count_if(words_, is_found)));
    return ops;
  }
  [[nodiscard]] std::span<const KeyBytes> keys() const { return keys_; }

 private:
  std::vector<KeyBytes> keys_;
  std::vector<uint64_t> words_;
  Parameters parameters_ = default_parameters();
};

std::vector<std::string> text_of(const std::vector<Op>& ops) {
  std::vector<std::string> words;
  for (const Op& op : ops) words.push_back(text_of(op));
  return words;
}

class SoftwareOnPaperTable : public testing::Test {
 protected:
  std::vector<std::string> ops(const std::vector<uint64_t>& numbers, uint32_t keys_a_call) {
    std::vector<KeyBytes> keys;
    for (const uint64_t i : numbers) keys.push_back(bytes_of(key_of(i)));
    const SimulatedMemory& memory = scene_.bench.machine.bytes();
    return text_of(Asked(keys, memory, scene_.bench.table)
                       .ops(cost_of(keys_a_call), scene_.bench.metadata, memory));
  }
  [[nodiscard]] uint64_t entry(uint64_t i) { return scene_.bench.held(i).entry; }

  Scene scene_;
};

// Hash 12, search 7, compare 4.
TEST_F(SoftwareOnPaperTable, one_key_waits_for_hash_bucket_and_entry) {
  const uint64_t here = scene_.in_primary();
  EXPECT_EQ(ops({here}, 1), (std::vector<std::string>{
                                at("store", kKeys), at("load", kKeys), "compute 12 -1",
                                at("load", scene_.primary(here), " -1"), "compute 7 -1 unforeseen",
                                at("load", entry(here), " -1"), "compute 4 -1"}));
}

TEST_F(SoftwareOnPaperTable, a_second_bucket_needs_the_hash_only) {
  const uint64_t there = scene_.in_secondary();
  EXPECT_EQ(ops({there}, 1),
            (std::vector<std::string>{at("store", kKeys), at("load", kKeys), "compute 12 -1",
                                      at("load", scene_.primary(there), " -1"), "compute 7 -1",
                                      at("load", scene_.secondary(there), " -3"),
                                      "compute 7 -1 unforeseen", at("load", entry(there), " -1"),
                                      "compute 4 -1"}));
  const uint64_t absent = scene_.absent();
  EXPECT_EQ(ops({absent}, 1), (std::vector<std::string>{
                                  at("store", kKeys), at("load", kKeys), "compute 12 -1",
                                  at("load", scene_.primary(absent), " -1"), "compute 7 -1",
                                  at("load", scene_.secondary(absent), " -3"), "compute 7 -1"}));
}

TEST_F(SoftwareOnPaperTable, what_is_where_the_last_one_was_is_foreseen) {
  const uint64_t here = scene_.in_primary();
  const std::vector<std::string> twice = ops({here, here}, 1);
  ASSERT_EQ(twice.size(), 14U);
  EXPECT_EQ(twice[4], "compute 7 -1 unforeseen");
  EXPECT_EQ(twice[11], "compute 7 -1");
}

TEST_F(SoftwareOnPaperTable, many_keys_go_stage_by_stage_and_look_at_both_buckets) {
  const uint64_t here = scene_.in_primary();
  const uint64_t there = scene_.in_secondary();
  EXPECT_EQ(
      ops({here, there}, 32),
      (std::vector<std::string>{
          at("store", kKeys), at("store", kKeys + 64),
          // Hash, and ask for both buckets.
          at("load", kKeys), "compute 12 -1", at("ask", scene_.primary(here), " -1"),
          at("ask", scene_.secondary(here), " -2"), at("load", kKeys + 64), "compute 12 -1",
          at("ask", scene_.primary(there), " -1"), at("ask", scene_.secondary(there), " -2"),
          // Look at both, and ask for the entry.
          at("load", scene_.primary(here), " -7"), at("load", scene_.secondary(here), " -8"),
          "compute 7 -2 -1 unforeseen", at("ask", entry(here), " -1"),
          at("load", scene_.primary(there), " -7"), at("load", scene_.secondary(there), " -8"),
          "compute 7 -2 -1 unforeseen", at("ask", entry(there), " -1"),
          // Compare: the first one unforeseen, the other where the last one was not.
          at("load", entry(here), " -6"), "compute 4 -1 unforeseen",
          at("load", entry(there), " -4"), "compute 4 -1"}));
}

TEST(SoftwareOnSingleTable, a_key_has_one_bucket) {
  LookupBench bench(default_parameters(), paper_table(500, 256, TableFormat::kPaperSingle).image());
  const SimulatedMemory& memory = bench.machine.bytes();
  const auto key_with = [&](uint64_t first, size_t entries) {
    return bench.key_where(first, [&](uint64_t i) {
      const LookupPath path = lookup_path(memory, bench.metadata, bytes_of(key_of(i)));
      return path.looks.size() == 1 && path.looks[0].entries.size() == entries;
    });
  };
  const uint64_t here = key_with(0, 1);
  const uint64_t absent = key_with(1, 0);
  const auto bucket = [&](uint64_t i) {
    return at("load", bucket_address(bench.metadata, bench.places(i).primary), " -1");
  };
  Asked asked({bytes_of(key_of(here)), bytes_of(key_of(absent))}, memory, bench.table);
  EXPECT_EQ(text_of(asked.ops(cost_of(1), bench.metadata, memory)),
            (std::vector<std::string>{at("store", kKeys), at("load", kKeys), "compute 12 -1",
                                      bucket(here), "compute 7 -1 unforeseen",
                                      at("load", bench.held(here).entry, " -1"), "compute 4 -1",
                                      at("store", kKeys + 64), at("load", kKeys + 64),
                                      "compute 12 -1", bucket(absent), "compute 7 -1 unforeseen"}));
}

template <LayoutChoice kChoice>
struct FilledPolicies : DefaultPolicies {
  static constexpr LayoutChoice kLayout = kChoice;
};

// Keys 0, 1, ... of a full table of ours, that many of them.
template <class Key, class Value, LayoutChoice kChoice>
std::vector<std::byte> full_table(uint64_t& held) {
  auto table = FlowTable<Key, Value, FilledPolicies<kChoice>>::create({.capacity = 1024}).value();
  for (held = 0; held < 900 && table.insert(traffic::narrowed<Key>(key_of(held)), Value{}) ==
                                   InsertOutcome::kInserted;) {
    ++held;
  }
  const auto image = image_of(table);
  return {image.begin(), image.end()};
}

// A table of ours in a machine's memory, and the first of its keys that a lookup finds so.
struct OwnScene {
  explicit OwnScene(const std::vector<std::byte>& image) {
    address = put_table(memory, kRunTableAddress, image).value();
    table = *TableMetadata::of_line(memory.read_line(line_of(address)));
  }
  template <class Key>
  static KeyBytes bytes(uint64_t i) {
    const Key key = traffic::narrowed<Key>(key_of(i));
    KeyBytes bytes{};
    std::memcpy(bytes.data(), &key, sizeof(key));
    return bytes;
  }
  template <class Key, class Is>
  LookupPath path_where(uint64_t first, KeyBytes& key, Is&& is) const {
    for (uint64_t i = first;; ++i) {
      key = bytes<Key>(i);
      LookupPath path = lookup_path(memory, table, key);
      if (is(path)) return path;
    }
  }
  SimulatedMemory memory;
  uint64_t address = 0;
  TableMetadata table{};
};

TEST(SoftwareOnOwnTable, split_asks_for_a_second_bucket_only_where_the_filter_lets_it) {
  uint64_t held = 0;
  const OwnScene scene(full_table<traffic::Key128, traffic::Value128, LayoutChoice::kSplit>(held));
  std::vector<KeyBytes> keys(3);
  using Key = traffic::Key128;
  const LookupPath here = scene.path_where<Key>(0, keys[0], [](const LookupPath& path) {
    return path.looks.size() == 1 && path.looks[0].entries.size() == 1;
  });
  const LookupPath there = scene.path_where<Key>(0, keys[1], [](const LookupPath& path) {
    return path.looks.size() == 2 && path.looks[0].entries.empty() &&
           path.looks[1].entries.size() == 1 && is_found(path.word);
  });
  const LookupPath nowhere = scene.path_where<Key>(held, keys[2], [](const LookupPath& path) {
    return path.looks.size() == 1 && path.looks[0].entries.empty();
  });
  const auto ops =
      text_of(Asked(keys, scene.memory, scene.address).ops(cost_of(32), scene.table, scene.memory));
  EXPECT_EQ(
      ops,
      (std::vector<std::string>{
          at("store", kKeys), at("store", kKeys + 64), at("store", kKeys + 128),
          // Hash, and ask for the first bucket.
          at("load", kKeys), "compute 12 -1", at("ask", here.looks[0].line, " -1"),
          at("load", kKeys + 64), "compute 12 -1", at("ask", there.looks[0].line, " -1"),
          at("load", kKeys + 128), "compute 12 -1", at("ask", nowhere.looks[0].line, " -1"),
          // Look at it; ask for the entry, or for the second bucket, or for nothing.
          at("load", here.looks[0].line, " -8"), "compute 7 -1",
          at("ask", here.looks[0].entries[0], " -1"), at("load", there.looks[0].line, " -8"),
          "compute 7 -1", at("ask", there.looks[1].line, " -1"),
          at("load", nowhere.looks[0].line, " -8"), "compute 7 -1",
          // The second bucket, and its entry.
          at("load", there.looks[1].line, " -13"), "compute 7 -1",
          at("ask", there.looks[1].entries[0], " -1"), at("load", here.looks[0].entries[0], " -10"),
          "compute 4 -1", at("load", there.looks[1].entries[0], " -4"), "compute 4 -1"}));
}

TEST(SoftwareOnOwnTable, inline_has_all_in_the_bucket) {
  uint64_t held = 0;
  const OwnScene scene(full_table<traffic::Key104, traffic::Value32, LayoutChoice::kInline>(held));
  std::vector<KeyBytes> keys(1);
  const LookupPath here = scene.path_where<traffic::Key104>(0, keys[0], [](const LookupPath& path) {
    return path.looks.size() == 1 && is_found(path.word);
  });
  EXPECT_EQ(
      text_of(Asked(keys, scene.memory, scene.address).ops(cost_of(32), scene.table, scene.memory)),
      (std::vector<std::string>{at("store", kKeys), at("load", kKeys), "compute 12 -1",
                                at("ask", here.looks[0].line, " -1"),
                                at("load", here.looks[0].line, " -2"), "compute 7 -1"}));
}

TEST(Software, has_the_instructions_loads_and_stores_of_the_real_program) {
  Scene scene;
  std::vector<KeyBytes> keys;  // every other one is there
  for (uint64_t i = 0; i < 1000; ++i) keys.push_back(bytes_of(key_of(i * 7 % 1000)));
  const SimulatedMemory& memory = scene.bench.machine.bytes();
  for (const uint32_t keys_a_call : {1U, 32U}) {
    SoftwareCost cost =
        cost_of(keys_a_call, {.instructions = 152.3, .loads = 50.7, .stores = 20.2});
    cost.miss = {.instructions = 100.1, .loads = 30.1, .stores = 10.2};
    InstructionCounts sum;
    uint64_t chained = 0;  // cycles of what is not an access nor waits for one
    for (const Op& op :
         Asked(keys, memory, scene.bench.table).ops(cost, scene.bench.metadata, memory)) {
      if (op.kind == OpKind::kStore && op.bytes == 16) continue;  // writes a key
      sum.instructions += op.instructions;
      sum.loads += op.kind == OpKind::kLoad ? 1 : 0;
      sum.stores += op.kind == OpKind::kStore ? 1 : 0;
      if (op.kind == OpKind::kCompute && op.instructions > 1) chained += op.cycles;
    }
    EXPECT_NEAR(sum.instructions, 500 * (152.3 + 100.1), 2);
    EXPECT_NEAR(sum.loads, 500 * (50.7 + 30.1), 2);
    EXPECT_NEAR(sum.stores, 500 * (20.2 + 10.2), 2);
    // About seven of them are accesses to the table, and what waits for those; 0.3 cycles each.
    EXPECT_NEAR(static_cast<double>(chained), 500 * (145 + 93) * 0.3, 1500);
  }
}

TEST(Software, costs_are_those_of_the_nearest_length_of_keys) {
  ASSERT_NE(software_cost("rte_hash_one", 16), nullptr);
  EXPECT_EQ(software_cost("rte_hash_one", 13)->key_bytes, 16U);
  EXPECT_EQ(software_cost("rte_hash_one", 16)->keys_a_call, 1U);
  EXPECT_EQ(software_cost("rte_hash_32", 37)->key_bytes, 40U);
  EXPECT_EQ(software_cost("split_32", 64)->key_bytes, 40U);
  EXPECT_EQ(software_cost("inline_32", 1)->key_bytes, 13U);
  EXPECT_EQ(software_cost("nobody", 16), nullptr);
  for (const SoftwareCost& cost : software_costs()) {
    for (const InstructionCounts& counts : {cost.hit, cost.miss}) {
      EXPECT_GT(counts.instructions, counts.loads + counts.stores) << cost.name;
      EXPECT_GT(counts.loads, 1) << cost.name;
    }
  }
}

TEST(Software, costs_that_cannot_be_are_refused) {
  const std::string right(software_costs_text());
  EXPECT_TRUE(parse_software_costs(right).config.has_value());
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"keys_a_call = 1\n", "keys_a_call = 0\n"},
                                                        {"loads = ", "loads = 9"},
                                                        {"stores = ", "shops = "},
                                                        {"measured_by", "measured"},
                                                        {"[[way]]", "[[ways]]"}}) {
    std::string wrong = right;
    ASSERT_NE(wrong.find(from), std::string::npos) << from;
    wrong.replace(wrong.find(from), from.size(), to);
    EXPECT_FALSE(parse_software_costs(wrong).config.has_value()) << to;
  }
}

TEST(Software, runs_of_many_keys_are_faster_than_of_one_and_say_what_is_wrong) {
  const PaperTable table = paper_table(20'000, 4096);
  std::vector<KeyBytes> keys;
  for (uint64_t i = 0; i < 6000; ++i)
    keys.push_back(bytes_of(key_of(2 * (traffic::mix(i) % 20'000))));
  std::vector<uint64_t> words = words_of({{image_of(table)}}, keys).value();
  LookupRun run{.tables = {{image_of(table)}},
                .trace = {keys, words},
                .software = software_cost("rte_hash_one", 16),
                .cores = 2,
                .warm_up = 4000,
                .lookups = 2000};
  const LookupFigures one = run_lookups(default_parameters(), run).value();
  run.software = software_cost("rte_hash_32", 16);
  const LookupFigures many = run_lookups(default_parameters(), run).value();
  EXPECT_GT(many.lookups_per_second, 1.3 * one.lookups_per_second);
  EXPECT_NEAR(one.instructions_per_lookup, software_cost("rte_hash_one", 16)->hit.instructions + 1,
              0.1);
  EXPECT_EQ(one.accelerators, 0U);
  EXPECT_DOUBLE_EQ(one.hit_share, 1.0);
  words[5000] = kNotFoundWord;
  const auto wrong = run_lookups(default_parameters(), run);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("1 of them not as the table says"), std::string::npos);
}

TEST(Software, a_table_of_the_paper_s_format_has_an_image_s_keys) {
  uint64_t held = 0;
  const auto image = full_table<traffic::Key104, traffic::Value32, LayoutChoice::kInline>(held);
  const PaperTable paper = paper_table_of(image).value();
  EXPECT_EQ(paper.size(), held);
  EXPECT_EQ(audit_image(image_of(paper)).value().entries, held);
  const OwnScene own(image);
  EXPECT_EQ(paper.metadata().buckets, std::bit_ceil((own.table.buckets * own.table.slots + 7) / 8));
  std::vector<KeyBytes> keys;
  for (uint64_t i = 0; i < held + 100; ++i) keys.push_back(own.bytes<traffic::Key104>(i));
  const auto words = words_of({{image_of(paper)}}, keys).value();
  for (uint64_t i = 0; i < keys.size(); ++i) EXPECT_EQ(is_found(words[i]), i < held) << i;
}

}  // namespace
}  // namespace roost::sim
