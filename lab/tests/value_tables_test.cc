// Value-only tables and what is measured beside them: every key's value, on every kind of keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/contestants/chained_lmh.h"
#include "lab/contestants/compact_tables.h"
#include "lab/contestants/cuckoo_2_4.h"
#include "lab/contestants/ludo.h"
#include "lab/contestants/othello.h"
#include "lab/contestants/packed_values.h"
#include "lab/contestants/rte_efd.h"
#include "lab/contestants/rte_hash_values.h"
#include "lab/contestants/value_line_up.h"
#include "lab/contestants/value_oracle.h"
#include "lab/tests/eal_main.h"
#include "lab/tests/value_keys.h"
#include "lab/value_tables/key_sets.h"
#include "roost/compact/line_map_builder_impl.h"

namespace roost::lab {
namespace {

// Asks for all keys in calls of every kind, and sees that a wrong value would be noticed.
template <class Key>
void check_table(AnyValueTable<Key>& table, std::vector<ValueEntry<Key>> entries) {
  for (const size_t lanes : {1U, 32U, 33U, 64U, 100U, 256U})
    EXPECT_EQ(table.first_wrong(entries, lanes), std::nullopt) << lanes << " keys a call";
  std::vector<Key> keys;
  uint64_t sum = 0;
  for (const auto& entry : entries) {
    keys.push_back(entry.key);
    sum += entry.value;
  }
  const Stream stream(std::move(keys));
  const PassOutcome expected{entries.size(), sum};
  EXPECT_EQ(table.pass(stream, 64), expected);
  entries[entries.size() / 2].value ^= 1;
  EXPECT_EQ(table.first_wrong(entries, 64),
            "key " + std::to_string(entries.size() / 2) + " has another value");
}

template <class Key>
void check_all(const KeySet<Key>& set, uint32_t value_bits, double load) {
  const auto entries = entries_of_keys(set.keys, value_bits);
  for (const ValueContestant<Key>& contestant : value_line_up<Key>()) {
    SCOPED_TRACE(std::string(contestant.name) + ", values of " + std::to_string(value_bits) +
                 " bits");
    const auto table = contestant.build(
        {.key_bits = set.key_bits, .value_bits = value_bits, .load = load}, entries);
    if (contestant.name == "rte_efd" && value_bits > 8) {
      EXPECT_EQ(table.error().message, "its values have 8 bits");
      continue;
    }
    if (contestant.name == "roost_packed" && set.key_bits > 48) {
      EXPECT_EQ(table.error().message, "its keys have 48 bits");
      continue;
    }
    ASSERT_TRUE(table) << table.error().message;
    check_table(*table.value(), entries);
    EXPECT_EQ(table.value()->pages().page_bytes, 4096U);
    EXPECT_GT(table.value()->image_bytes() * 8, set.keys.size() * value_bits);
    const Stream strangers(draw_strangers(set, 2'000, 9));
    const uint64_t found = table.value()->pass(strangers, 64).hit_count;
    if (table.value()->keeps_keys()) {
      EXPECT_EQ(found, 0U);
    } else if (contestant.name == "line_map_fingerprints") {
      EXPECT_LT(found, 40U);
    } else {
      EXPECT_GT(found, 200U);
    }
  }
}

TEST(ValueTables, have_every_key_s_value_whatever_the_keys) {
  for (const char* name : kWordSets) {
    SCOPED_TRACE(name);
    check_all(keys_of(name), 16, 0.85);
  }
  check_all(keys_of<traffic::Key104>("tuple"), 16, 0.85);
}

TEST(ValueTables, have_narrow_values_and_high_loads) {
  check_all(keys_of("mac"), 8, 0.95);
  check_all(keys_of<traffic::Key104>("tuple"), 8, 0.95);
}

TEST(ValueTables, take_the_bytes_that_their_layouts_say) {
  const auto set = keys_of("mac", 50'000);
  const auto entries = entries_of_keys(set.keys, 16);
  const auto bits = [&](const auto& table) {
    return 8 * static_cast<double>(table.image_bytes()) / static_cast<double>(entries.size());
  };
  const ValueTableConfig config{.load = 0.95};
  EXPECT_NEAR(bits(Othello<uint64_t>::build(config, entries).value()), 2.333 * 16, 0.1);
  EXPECT_NEAR(bits(Ludo<uint64_t>::build(config, entries).value()), 2.333 + (5 + 64) / 3.8, 0.1);
  EXPECT_NEAR(bits(Cuckoo24<uint64_t>::build(config, entries).value()), 80 / 0.95, 0.1);
  EXPECT_NEAR(bits(PackedValues::build(config, entries).value()), 64 / 0.95, 6);
  // As many keys are alone in their bucket as Poisson's law says.
  const double mean = 0.95;
  const double chained = 1 - (1 - std::exp(-mean)) / mean;
  EXPECT_NEAR(bits(ChainedLmh<uint64_t>::build(config, entries).value()),
              128 / 0.95 + 128 * chained, 2);
}

TEST(ValueTables, t18_an_othello_with_cycles_is_hashed_anew) {
  int cycles = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto entries = entries_of_keys(keys_of("mac", 1'000, seed).keys, 16);
    auto table = Othello<uint64_t>::build({.seed = seed}, entries);
    ASSERT_TRUE(table) << table.error().message;
    cycles += table.value().cycles_met();
    TypedValueTable<Othello<uint64_t>> any(std::move(table).value());
    check_table(any, entries);
  }
  EXPECT_GT(cycles, 5) << "every second graph has a cycle";
  EXPECT_LT(cycles, 60);
  const std::vector<uint64_t> same = {7, 8, 7};
  EXPECT_EQ(OthelloCells::build(same, std::vector<uint32_t>{1, 2, 3}, 16, PageKind::kSmall)
                .error()
                .message,
            "no hash leaves the keys without a cycle");
}

TEST(ValueTables, a_model_that_does_not_fit_is_refused) {
  std::vector<uint64_t> keys;
  for (uint64_t run = 0; run < 40; ++run)
    for (uint64_t i = 0; i < 500; ++i) keys.push_back((run * run * run << 30) + i);
  const auto table = ChainedLmh<uint64_t>::build({}, entries_of_keys(keys, 16));
  ASSERT_FALSE(table);
  EXPECT_TRUE(table.error().message.starts_with("no RMI fits the keys")) << table.error().message;
}

TEST(ValueTables, distributor_has_its_keys_beside_what_lookups_read) {
  const auto entries = entries_of_keys(keys_of("mac").keys, 8);
  auto table = RteEfd<uint64_t>::build({.value_bits = 8}, entries);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_GT(table.value().image_bytes(), 0U);
  EXPECT_GT(table.value().builder_bytes(), entries.size() * sizeof(uint64_t));
}

// As a map would be changed.
template <ValueTable Table>
void check_changes() {
  const auto set = keys_of("mac");
  auto entries = entries_of_keys(set.keys, 8);
  auto built = Table::build({.value_bits = 8, .load = 0.85}, entries);
  ASSERT_TRUE(built) << built.error().message;
  TypedValueTable<Table> table(std::move(built).value());
  ASSERT_TRUE(table.can_change());
  std::vector<Change<uint64_t>> changes;
  std::vector<uint64_t> gone;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i % 4 == 0) {
      changes.push_back({ChangeKind::kErase, entries[i].key, 0});
      gone.push_back(entries[i].key);
    } else if (i % 4 == 1) {
      entries[i].value = (entries[i].value + 1) % 255;
      changes.push_back({ChangeKind::kUpdate, entries[i].key, entries[i].value});
    }
  }
  std::vector<ValueEntry<uint64_t>> left;
  for (size_t i = 0; i < entries.size(); ++i)
    if (i % 4 != 0) left.push_back(entries[i]);
  for (const uint64_t key : draw_strangers(set, 1'000, 5)) {
    if (std::ranges::any_of(left, [key](const auto& entry) { return entry.key == key; })) continue;
    left.push_back({key, value_of_word(mixed_word(key), 8)});
    changes.push_back({ChangeKind::kInsert, key, left.back().value});
  }
  const Changed changed = table.change(changes);
  EXPECT_EQ(changed.refused, std::vector<uint32_t>{});
  EXPECT_EQ(table.first_wrong(left, 64), std::nullopt);
  if (table.keeps_keys()) {
    EXPECT_EQ(table.pass(Stream(gone), 64).hit_count, 0U);
  }
}

TEST(ValueTables, change_as_they_are_told) {
  check_changes<LineMapTable<uint64_t>>();
  check_changes<ParrotTable<compact::InsertionPolicy::kReseed>>();
  check_changes<Cuckoo24<uint64_t>>();
  check_changes<PackedValues>();
  check_changes<RteHashValues<uint64_t>>();
  check_changes<RteEfd<uint64_t>>();
}

// A thousand near keys in one place fill Parrot's buckets, which a rebuild mends.
TEST(ValueTables, are_rebuilt_where_there_is_no_room) { check_changes<ParrotTable<>>(); }

TEST(ValueTables, scans_give_what_lies_between_two_keys) {
  const auto set = keys_of("arrivals");
  const auto entries = entries_of_keys(set.keys, 16);
  const auto parrot = ParrotTable<>::build({.key_bits = 64}, entries).value();
  const auto chained = ChainedLmh<uint64_t>::build({}, entries).value();
  std::vector<uint32_t> values(1'000);
  for (const size_t length : {1U, 2U, 10U, 100U}) {
    for (size_t first = 0; first + length < entries.size(); first += 331) {
      const uint64_t low = entries[first].key;
      const uint64_t high = entries[first + length - 1].key;
      std::vector<uint32_t> wanted;
      for (size_t i = first; i < first + length; ++i) wanted.push_back(entries[i].value);
      ASSERT_EQ(chained.scan(low, high, values), length);
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), values.begin()));
      const size_t count = parrot.scan(low, high, values);
      ASSERT_GE(count, length);
      ASSERT_LE(count, length + 8);  // four at each end
      std::sort(values.begin(), values.begin() + static_cast<ptrdiff_t>(count));
      std::ranges::sort(wanted);
      ASSERT_TRUE(std::includes(values.begin(), values.begin() + static_cast<ptrdiff_t>(count),
                                wanted.begin(), wanted.end()));
    }
  }
  EXPECT_EQ(chained.scan(0, UINT64_MAX, std::span(values).first(7)), 7U);
  EXPECT_EQ(parrot.scan(0, UINT64_MAX, std::span(values).first(7)), 7U);
}

TEST(ValueOracle, knows_every_value_over_the_bytes_it_is_given) {
  const auto entries = entries_of_keys(keys_of("mac").keys, 16);
  auto oracle = ValueOracle<uint64_t, PrefetchHint::kT0>::create(100'000, 16, PageKind::kSmall);
  ASSERT_TRUE(oracle);
  EXPECT_EQ(oracle.value().image_bytes(), 100'032U);
  std::vector<uint64_t> keys;
  uint64_t sum = 0;
  for (const auto& entry : entries) {
    keys.push_back(entry.key);
    sum += entry.value;
  }
  const PassOutcome expected{entries.size(), sum};
  EXPECT_EQ(drive(oracle.value(), std::span<const uint64_t>(keys), 64), expected);
  EXPECT_EQ(drive(oracle.value(), std::span<const uint64_t>(keys), 256), expected);
}

}  // namespace
}  // namespace roost::lab

int main(int argc, char** argv) {
  return roost::lab::run_tests_with_eal(argc, argv, uint64_t{512} << 20, 128);
}
