// What runs in a table's own memory: the oracle, which answers as the table does, from the same
// bytes; and the table itself with a hint forced on it.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/contestants/forced_hint.h"
#include "lab/contestants/roost_flow_table.h"
#include "lab/contestants/table_oracle.h"
#include "lab/harness/any_table.h"
#include "lab/tests/contestant_check.h"
#include "roost/table/flow_table.h"

namespace roost::lab {
namespace {

// Our table in memory that it was lent.
class LentTable {
 public:
  static constexpr TableConfig kConfig = {.capacity = kCheckedSlots, .hash_seed = 1};
  using Table = FlowTable<Key, Value>;

  LentTable() {
    TableConfig config = kConfig;
    config.memory = {memory_.data(), memory_.bytes()};
    table_.emplace(Table::create(config).value());
    for (uint64_t index = 0; index < kCheckedEntries; ++index) {
      const Key key = traffic::KeySource(3).inserted(index);
      EXPECT_NE(table_->insert(key, value_of(key)), InsertOutcome::kFull);
    }
  }

  const void* entry_address(const Key& key) { return table_->find(key); }
  [[nodiscard]] TableMemory memory() const {
    return {{memory_.data(), memory_.bytes()}, table_->bucket_count()};
  }
  Table& table() { return *table_; }

 private:
  Arena memory_ = Arena::map(Table::bytes_to_lend(kConfig).value()).value();
  std::optional<Table> table_;
};

template <class Oracle>
class TableOracles : public testing::Test {
 protected:
  std::vector<Key> stream(double miss_ratio) {
    return traffic::query_stream(
        traffic::KeySource(3),
        {.entry_count = kCheckedEntries, .query_count = 10'001, .miss_ratio = miss_ratio});
  }
  LentTable table_;
};

using AllHints = testing::Types<TableOracle<LentTable, 2, PrefetchHint::kT0>,
                                TableOracle<LentTable, 2, PrefetchHint::kT1>,
                                TableOracle<LentTable, 2, PrefetchHint::kNta>>;
TYPED_TEST_SUITE(TableOracles, AllHints);

TYPED_TEST(TableOracles, answer_what_the_table_holds_in_every_form_of_call) {
  for (const double miss_ratio : {0.0, 0.5, 1.0}) {
    const std::vector<Key> queries = this->stream(miss_ratio);
    const std::span<const Key> stream(queries);
    TypeParam oracle(this->table_, this->table_.memory(), stream);
    typename TypeParam::Ahead ahead(oracle);
    for (const size_t lanes : {1U, 32U, 256U}) {
      EXPECT_EQ(first_wrong_answer(oracle, stream, lanes), std::nullopt);
      EXPECT_EQ(first_wrong_answer(ahead, stream, lanes), std::nullopt);
      EXPECT_EQ(drive(oracle, stream, lanes), expected_outcome(stream));
    }
  }
}

TYPED_TEST(TableOracles, begin_at_the_line_of_the_bucket_that_holds_the_entry) {
  const std::vector<Key> queries = this->stream(0.5);
  TypeParam oracle(this->table_, this->table_.memory(), queries);
  const std::byte* const memory = this->table_.memory().bytes.data() + sizeof(ImageHeader);
  const std::byte* const entries = memory + this->table_.memory().bucket_count * 64;
  for (const Key& key : queries) {
    const std::byte* line = oracle.first_line(oracle.place_of(key));
    ASSERT_EQ((line - memory) % 64, 0);
    ASSERT_LT(line, entries);
    const auto* value = static_cast<const std::byte*>(this->table_.entry_address(key));
    if (value != nullptr) {
      ASSERT_EQ((value - entries) / 256, (line - memory) / 64);
    }
  }
}

TYPED_TEST(TableOracles, are_wrong_where_the_table_is_and_where_it_has_changed) {
  const std::vector<Key> queries = this->stream(0);
  const std::span<const Key> stream(queries);
  TypeParam oracle(this->table_, this->table_.memory(), stream);
  const Value wrong{{1, 2}};
  EXPECT_EQ(this->table_.table().insert(queries[5], wrong), InsertOutcome::kUpdated);
  EXPECT_NE(first_wrong_answer(oracle, stream, 32), std::nullopt);
  EXPECT_NE(drive(oracle, stream, 32), expected_outcome(stream));
}

// Keeps the hint that its lookups are to use.
struct HintedTable {
  using KeyType = Key;
  using ValueType = Value;
  HintChoice choice{PrefetchHint::kT1, {}};
  std::vector<PrefetchHint> used;

  HintChoice& hint_choice() { return choice; }
  void lookup(std::span<const Key> keys, std::span<Value> /*answers*/, HitWords /*hits*/) {
    used.push_back(choice.hint(keys.size()));
  }
  struct Ahead {
    HintedTable* table;
    explicit Ahead(HintedTable& of) : table(&of) {}
    void lookup(std::span<const Key> keys, std::span<const Key> /*next_keys*/,
                std::span<Value> answers, HitWords hits) {
      table->lookup(keys, answers, hits);
    }
  };
};

TEST(ForcedHint, is_the_hint_of_its_own_lookups_only) {
  HintedTable table;
  const std::vector<Key> keys(32);
  std::vector<Value> answers(32);
  std::array<uint64_t, 1> words{};
  ForcedHint<HintedTable, PrefetchHint::kNta> forced(table, {}, keys);
  forced.lookup(keys, answers, HitWords(words));
  ForcedHint<HintedTable, PrefetchHint::kT1>(table, {}, keys)
      .lookup(keys, answers, HitWords(words));
  ForcedHint<HintedTable, PrefetchHint::kNta>::Ahead(forced).lookup(keys, keys, answers,
                                                                    HitWords(words));
  table.lookup(keys, answers, HitWords(words));
  EXPECT_EQ(table.used, (std::vector{PrefetchHint::kNta, PrefetchHint::kT1, PrefetchHint::kNta,
                                     PrefetchHint::kT0}))
      << "the last is the first that the table tries";
}

// As jobs have them: by the contestant, with its type forgotten.
TEST(OwnOracles, of_a_contestant_answer_as_it_does_and_differ_when_it_changes) {
  auto made = create_any<RoostFlowTable>(kCheckedSlots, PageKind::kSmall);
  ASSERT_TRUE(made);
  AnyTable& table = *made.value();
  const traffic::KeySource keys(3);
  ASSERT_EQ(table.insert(keys, 0, kCheckedEntries, 32).stored, kCheckedEntries);
  const Stream stream(traffic::query_stream(
      keys, {.entry_count = kCheckedEntries, .query_count = 10'001, .miss_ratio = 0.5}));
  const auto oracles = table.oracles(stream);
  std::vector<std::string_view> names;
  for (const auto& oracle : oracles) names.push_back(oracle->name());
  EXPECT_EQ(names, (std::vector<std::string_view>{"oracle_in_table_t0", "oracle_in_table_t1",
                                                  "oracle_in_table_nta", "forced_t0", "forced_t1",
                                                  "forced_nta"}));
  for (const Call call : {Call{32}, Call{256}, Call{32, true}}) {
    for (const auto& oracle : oracles) {
      EXPECT_EQ(oracle->form(call), table.form(call));
      EXPECT_EQ(oracle->first_wrong(stream, call), std::nullopt);
      EXPECT_EQ(oracle->pass(stream, call), table.expected(stream));
    }
  }
  table.clear();
  ASSERT_EQ(table.insert(keys, kCheckedEntries, 2 * kCheckedEntries, 32).stored, kCheckedEntries);
  for (const auto& oracle : oracles) EXPECT_NE(oracle->first_wrong(stream, {32}), std::nullopt);
}

TEST(OwnOracles, are_none_of_a_table_whose_memory_is_not_known) {
  auto made = create_any<RoostTable<HortonProbing>>(kCheckedSlots, PageKind::kSmall);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made.value()->oracles(Stream({Key{}})).empty());
}

}  // namespace
}  // namespace roost::lab
