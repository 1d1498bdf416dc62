// What the variants of probing cost, in counts that repeat exactly: entries in their secondary
// bucket and the load of the first refusal by slots a bucket (CPP-26, the paper's figure 2), and
// lookups that a filter or a remap array lets go on in vain (its table 2).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "roost/table/flow_table.h"
#include "roost/table/horton_probing.h"
#include "tests/table/test_types.h"
#include "tests/table/variants.h"

namespace roost {
namespace {

constexpr uint64_t kSlots = 1 << 20;

template <class Probing>
using Keys = FlowTable<Key16, NoValue, VariantPolicies<Variant<Probing, NoExpiry>>>;

template <class Probing>
Keys<Probing> make_keys(uint64_t capacity, uint64_t seed) {
  return Keys<Probing>::create({.capacity = capacity, .hash_seed = seed}).value();
}

// Inserts keys up to a load; false when one is refused before.
template <class Table>
bool fill(Table& table, double load) {
  while (static_cast<double>(table.size()) < load * static_cast<double>(table.capacity())) {
    if (table.insert(Key16::of(table.size()), {}) == InsertOutcome::kFull) return false;
  }
  return true;
}

template <class Table>
double share_in_secondary(const Table& table) {
  const auto& histogram = table.stats().moved_histogram;
  uint64_t moved = 0;
  for (unsigned count = 0; count < histogram.size(); ++count) moved += count * histogram[count];
  return static_cast<double>(moved) / static_cast<double>(table.size());
}

// Shares within 4 % of `expected`, by load, and the load of the first refusal within half a
// percent.
template <class Probing>
void expect_shares(const std::map<double, double>& expected, double first_refusal) {
  auto table = make_keys<Probing>(kSlots, 1);
  for (const auto& [load, share] : expected) {
    ASSERT_TRUE(fill(table, load)) << "refused below a load of " << load;
    EXPECT_NEAR(share_in_secondary(table), share, 0.04 * share) << "at load " << load;
  }
  EXPECT_FALSE(fill(table, 1.0));
  EXPECT_NEAR(table.stats().load, first_refusal, 0.005);
  testing::Test::RecordProperty("first_refusal", std::to_string(table.stats().load));
}

TEST(SlotsPerBucket, with_eight_few_entries_sit_in_their_secondary_bucket) {
  expect_shares<PessimisticProbing<8>>({{0.5, 0.0086}, {0.7, 0.044}, {0.8, 0.079}, {0.95, 0.168}},
                                       0.993);
}

TEST(SlotsPerBucket, with_four_nearly_twice_as_many_do) {
  expect_shares<PessimisticProbing<4>>({{0.5, 0.040}, {0.7, 0.106}, {0.8, 0.156}, {0.95, 0.286}},
                                       0.968);
}

TEST(SlotsPerBucket, two_refuse_keys_below_nine_tenths) {
  expect_shares<PessimisticProbing<2>>({{0.5, 0.119}, {0.7, 0.227}, {0.8, 0.307}}, 0.888);
}

TEST(SlotsPerBucket, one_refuses_keys_at_one_half) {
  expect_shares<PessimisticProbing<1>>({{0.3, 0.161}, {0.5, 0.296}}, 0.507);
}

TEST(Horton, least_loaded_of_seven_displaces_fewer_entries_than_one_secondary_bucket) {
  expect_shares<HortonProbing>({{0.5, 0.0084}, {0.7, 0.040}, {0.8, 0.068}, {0.95, 0.1325}}, 0.999);
}

TEST(Horton, the_first_refusal_comes_at_99_percent_or_later_whatever_the_seed) {
  double load_min = 1;
  double load_sum = 0;
  constexpr unsigned kSeeds = 200;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    auto table = make_keys<HortonProbing>(4096, seed);
    fill(table, 1.0);
    load_min = std::min(load_min, table.stats().load);
    load_sum += table.stats().load;
  }
  RecordProperty("load_min", std::to_string(load_min));
  RecordProperty("load_mean", std::to_string(load_sum / kSeeds));
  EXPECT_GE(load_min, 0.993);
  EXPECT_GE(load_sum / kSeeds, 0.998);
}

TEST(Horton, the_remap_array_errs_as_often_as_in_the_paper) {
  // The paper's table 2 says 0.004, 0.02 and 0.05.
  const std::map<double, double> expected = {{0.6, 0.0044}, {0.8, 0.020}, {0.95, 0.046}};
  auto table = make_keys<HortonProbing>(kSlots, 1);
  std::vector<Key16> absent;
  for (uint64_t i = 0; i < 500'000; ++i) absent.push_back(Key16::of((uint64_t{1} << 40) + i));
  std::vector<uint64_t> words(hit_word_count(absent.size()));
  for (const auto& [load, rate] : expected) {
    ASSERT_TRUE(fill(table, load));
    const uint64_t before = table.stats().lookups.filter_false_positives;
    ASSERT_EQ(table.lookup(absent, HitWords(words)), 0U);
    const auto in_vain = static_cast<double>(table.stats().lookups.filter_false_positives - before);
    EXPECT_NEAR(in_vain / 5e5, rate, 0.1 * rate) << "at load " << load;
  }
}

}  // namespace
}  // namespace roost
