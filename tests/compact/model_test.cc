// Models never fall, whatever the keys, and stay within their error.
#include "roost/compact/model_builder.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <utility>

#include "tests/base/step_count.h"
#include "tests/compact/key_sets.h"

namespace roost::compact {
namespace {

const std::vector<ModelChoice> kChoices = {{ModelKind::kRmi, 1},      {ModelKind::kRmi, 100},
                                           {ModelKind::kRmi, 20'000}, {ModelKind::kSpline, 1},
                                           {ModelKind::kSpline, 32},  {ModelKind::kSpline, 1'000},
                                           {ModelKind::kSteps, 4}};

// Half of them are below a thousandth of the greatest.
std::vector<uint64_t> lognormal_keys(size_t count) {
  std::mt19937_64 engine(8);
  std::lognormal_distribution<double> draw(0, 2);
  std::vector<uint64_t> keys(count);
  for (uint64_t& key : keys) key = static_cast<uint64_t>(draw(engine) * 0x1p32);
  return distinct(std::move(keys));
}

std::vector<std::pair<std::string, std::vector<uint64_t>>> key_sets() {
  std::vector<uint64_t> powers;
  for (unsigned bit = 0; bit < 64; ++bit) powers.push_back(uint64_t{1} << bit);
  std::vector<uint64_t> ends = dense_keys(1'000, 0);
  for (uint64_t i = 0; i < 1'000; ++i) ends.push_back(UINT64_MAX - i);
  const uint64_t many = step_count(50'000);
  return {{"random", random_keys(many, 1)},
          {"random of 64 bits", random_keys(many, 2, UINT64_MAX)},
          {"dense", dense_keys(many)},
          {"vendors", vendor_keys(many, 3)},
          {"powers of two", powers},
          {"lognormal", lognormal_keys(many)},
          {"both ends", distinct(std::move(ends))},
          {"one", {42}},
          {"two", {0, UINT64_MAX}},
          {"two neighbours", {UINT64_MAX - 1, UINT64_MAX}}};
}

TEST(MonotoneModel, x107_never_falls) {
  for (const auto& [name, keys] : key_sets()) {
    for (const ModelChoice& choice : kChoices) {
      SCOPED_TRACE(name + ", " + choice.format());
      const uint64_t buckets = keys.size() / 3 + 1;
      const BuiltModel built = build_model(choice, keys, buckets);
      const MonotoneModel model = built.view();
      // Its keys, those beside them, and those by chance between.
      std::vector<uint64_t> asked = {0, 1, UINT64_MAX};
      traffic::Draw draw(7);
      for (size_t i = 0; i < keys.size(); ++i) {
        asked.insert(asked.end(), {keys[i] - 1, keys[i], keys[i] + 1});
        if (i > 0) asked.push_back(keys[i - 1] + draw.word() % (keys[i] - keys[i - 1]));
      }
      uint64_t before = 0;
      for (const uint64_t key : distinct(std::move(asked))) {
        const uint64_t bucket = model.bucket_of(key);
        ASSERT_GE(bucket, before) << key;
        ASSERT_LT(bucket, built.bucket_count()) << key;
        before = bucket;
      }
      EXPECT_EQ(model.bucket_of(keys.front()), 0U);
      if (choice.kind != ModelKind::kSteps) {
        EXPECT_EQ(built.bucket_count(), buckets);
      }
    }
  }
}

// Of so many lines the search chooses one, in the mean of keys.
double lines_of_a_prefix(const BuiltModel& built, const std::vector<uint64_t>& keys) {
  double lines = 0;
  for (const uint64_t key : keys) {
    const uint64_t prefix = prefix_of(built.head, key - built.head.first_key);
    lines += built.prefixes[prefix + 1] - built.prefixes[prefix] + 1;
  }
  return lines / static_cast<double>(keys.size());
}

TEST(MonotoneModel, few_lines_have_the_prefix_of_a_key) {
  const uint64_t many = step_count(200'000);
  for (const auto& [keys, has_scale] :
       {std::pair(random_keys(many, 5), false), std::pair(lognormal_keys(many), true)}) {
    const BuiltModel built = build_model({ModelKind::kSpline, 8}, keys, keys.size() / 3);
    EXPECT_EQ(built.head.scale_bits > 0, has_scale);
    EXPECT_LT(lines_of_a_prefix(built, keys), 6);
    EXPECT_LE(built.head.prefix_count, 4 * built.head.line_count + 256);
  }
}

TEST(MonotoneModel, prefixes_rise_by_one_at_most_as_numbers_do) {
  for (const uint32_t shift : {0U, 3U}) {
    for (const uint32_t bits : {0U, 1U, 2U, 5U}) {
      const ModelHead head{.root_shift = shift, .scale_bits = bits};
      EXPECT_EQ(prefix_of(head, 0), 0U);
      for (uint64_t run = 1; run < 100'000; ++run) {
        const uint64_t step = prefix_of(head, run) - prefix_of(head, run - 1);
        ASSERT_LE(step, 1U) << run;
      }
    }
  }
  const ModelHead head{.scale_bits = 2};
  EXPECT_EQ(prefix_of(head, 7), 7U);
  EXPECT_EQ(prefix_of(head, 16), 12U);  // 4 of each power: 4, 8, 16
  EXPECT_EQ(prefix_of(head, UINT64_MAX), 251U);
}

TEST(MonotoneModel, splines_stay_within_their_error) {
  for (const auto& [name, keys] : key_sets()) {
    for (const uint32_t error : {1U, 4U, 32U}) {
      SCOPED_TRACE(name + ", error " + std::to_string(error));
      const uint64_t buckets = keys.size() / 3 + 1;
      const BuiltModel built = build_model({ModelKind::kSpline, error}, keys, buckets);
      for (size_t rank = 0; rank < keys.size(); ++rank) {
        const auto wanted = static_cast<double>(rank * buckets) / static_cast<double>(keys.size());
        const auto got = static_cast<double>(built.view().bucket_of(keys[rank]));
        ASSERT_NEAR(got, wanted, error + 1.5) << rank;
      }
    }
  }
}

// Few lines are enough where keys are evenly spaced, and none are where they lie in runs.
TEST(MonotoneModel, sizes_are_what_keys_ask_for) {
  const auto lines = [](const ModelChoice& choice, const std::vector<uint64_t>& keys) {
    return build_model(choice, keys, keys.size() / 4 + 1).head.line_count;
  };
  EXPECT_EQ(lines({ModelKind::kSpline, 1}, dense_keys(100'000)), 1U);
  EXPECT_LT(lines({ModelKind::kSpline, 1}, vendor_keys(100'000, 4)), 200U);
  EXPECT_GT(lines({ModelKind::kSpline, 1}, random_keys(100'000, 5)), 1'000U);
  EXPECT_EQ(lines({ModelKind::kRmi, 77}, random_keys(100'000, 6)), 77U);
  EXPECT_EQ(lines({ModelKind::kSteps, 4}, random_keys(10'001, 6)), 2'501U);
}

// No number that lies between the keys has more zeros behind it.
TEST(Steps, cuts_are_where_most_zeros_trail) {
  EXPECT_EQ(cut_between(0, UINT64_MAX), uint64_t{1} << 63);
  EXPECT_EQ(cut_between(5, 6), 6U);
  EXPECT_EQ(cut_between(5, 7), 6U);
  EXPECT_EQ(cut_between(0b1011'0000, 0b1011'1111), 0b1011'1000U);
  traffic::Draw draw(8);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t before = draw.below(1'000);
    const uint64_t key = before + 1 + draw.below(200);
    uint64_t best = key;
    for (uint64_t at = before + 1; at < key; ++at)
      if (std::countr_zero(at) > std::countr_zero(best)) best = at;
    ASSERT_EQ(cut_between(before, key), best) << before << " " << key;
  }
}

TEST(Steps, give_every_bucket_so_many_keys) {
  for (const auto& [name, keys] : key_sets()) {
    for (const uint32_t size : {1U, 4U, 6U}) {
      SCOPED_TRACE(name + ", " + std::to_string(size));
      const BuiltModel built = build_model({ModelKind::kSteps, size}, keys, 1);
      for (size_t rank = 0; rank < keys.size(); ++rank)
        ASSERT_EQ(built.view().bucket_of(keys[rank]), rank / size) << rank;
    }
  }
}

TEST(Steps, of_a_model_keep_its_buckets_but_those_without_keys) {
  for (const auto& [name, keys] : key_sets()) {
    SCOPED_TRACE(name);
    const BuiltModel model = build_model({ModelKind::kSpline, 4}, keys, keys.size() / 3 + 1);
    const BuiltModel steps = steps_of(model.view(), keys);
    uint64_t bucket = 0;
    for (size_t rank = 0; rank < keys.size(); ++rank) {
      if (rank > 0 && model.view().bucket_of(keys[rank]) != model.view().bucket_of(keys[rank - 1]))
        ++bucket;
      ASSERT_EQ(steps.view().bucket_of(keys[rank]), bucket) << rank;
    }
    EXPECT_EQ(steps.bucket_count(), bucket + 1);
  }
}

}  // namespace
}  // namespace roost::compact
