// Parrot tables as they are built: every key's value, the bytes, what cannot be, damaged images.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <string>

#include "roost/base/hit_words.h"
#include "roost/compact/parrot_builder.h"
#include "roost/compact/parrot_plan.h"
#include "tests/base/step_count.h"
#include "tests/compact/key_sets.h"

namespace roost::compact {
namespace {

ParrotBuilder built(const ParrotBuilder::Config& config, const std::vector<uint64_t>& keys) {
  auto table = ParrotBuilder::build(config, entries_of(keys, config.value_bits));
  EXPECT_TRUE(table) << table.error().message;
  return std::move(table).value();
}

// The share of keys that the reader gives a value to.
double maybe_share(const ParrotReader& reader, const std::vector<uint64_t>& keys) {
  std::vector<uint32_t> values(keys.size());
  std::vector<uint64_t> words(hit_word_count(keys.size()));
  return static_cast<double>(reader.lookup_unverified(keys, values, HitWords(words))) /
         static_cast<double>(keys.size());
}
double bits_a_key(const ParrotBuilder& table) {
  return 8 * static_cast<double>(table.image().size()) / static_cast<double>(table.size());
}

TEST(Parrot, gives_each_key_its_value) {
  const size_t count = step_count(1'000'000);
  for (const auto& keys : {dense_keys(count), random_keys(count, 1), vendor_keys(count, 2)}) {
    const ParrotBuilder table = built({}, keys);
    EXPECT_EQ(table.size(), keys.size());
    expect_all(reader_of(table), keys, 16);
    EXPECT_EQ(table.audit(), std::nullopt);
    EXPECT_LE(table.report().longest_walk, kStashWalkMax);
  }
}

// 17 bytes a bucket of 3.4 keys, and the stash's share.
TEST(Parrot, x110_takes_the_bytes_that_its_parts_take) {
  const ParrotBuilder dense = built({}, dense_keys(step_count(1'000'000)));
  EXPECT_LE(bits_a_key(dense), 41);
  EXPECT_EQ(dense.report().image.sum(), dense.image().size());
  EXPECT_EQ(dense.report().image.buckets / 17, dense.report().buckets);
  const ParrotBuilder random = built({}, random_keys(step_count(1'000'000), 3));
  EXPECT_LE(bits_a_key(random), 61);
  EXPECT_NEAR(static_cast<double>(random.report().stashed) / static_cast<double>(random.size()),
              0.14, 0.01);
  // A failed bucket is a full one that no seed tells apart.
  EXPECT_LT(static_cast<double>(random.report().failed_buckets),
            0.003 * static_cast<double>(random.report().buckets));
  EXPECT_GT(random.report().failed_buckets, 0U);
}

TEST(Parrot, has_values_fingerprints_and_keys_of_all_widths) {
  for (const uint32_t value_bits : {4U, 5U, 8U, 12U, 16U, 24U, 31U, 32U}) {
    for (const uint32_t fingerprint_bits : {0U, 8U, 12U, 16U}) {
      for (const uint32_t key_bits : {17U, 32U, 48U, 64U}) {
        SCOPED_TRACE(std::to_string(key_bits) + " " + std::to_string(value_bits) + " " +
                     std::to_string(fingerprint_bits));
        const auto keys = random_keys(2'000, key_bits, ~uint64_t{0} >> (64 - key_bits));
        const ParrotBuilder table = built(
            {.key_bits = key_bits, .value_bits = value_bits, .fingerprint_bits = fingerprint_bits},
            keys);
        expect_all(reader_of(table), keys, value_bits);
        EXPECT_EQ(table.audit(), std::nullopt);
      }
    }
  }
}

// no part of a key is left out.
TEST(Parrot, x108_tells_keys_apart_that_differ_in_their_high_bits_only) {
  std::vector<uint64_t> keys;
  for (uint64_t high = 0; high < 20'000; ++high) keys.push_back(high << 32 | 0xabcd'ef01);
  const ParrotBuilder table = built({.key_bits = 64}, keys);
  expect_all(reader_of(table), keys, 16);
}

// strangers get a value, but where a slot is empty or its fingerprint another one's.
TEST(Parrot, x106_strangers_get_values_as_often_as_is_said) {
  const auto keys = random_keys(200'000, 4);
  std::vector<uint64_t> strangers;
  for (const uint64_t key : random_keys(200'000, 5))
    if (!std::ranges::binary_search(keys, key)) strangers.push_back(key);
  const double plain = maybe_share(reader_of(built({}, keys)), strangers);
  EXPECT_GT(plain, 0.6);
  EXPECT_LT(plain, 0.95);
  const auto with_fingerprints = [&](uint32_t bits) {
    return maybe_share(reader_of(built({.fingerprint_bits = bits}, keys)), strangers);
  };
  EXPECT_NEAR(with_fingerprints(8), plain / 256, 0.001);
  EXPECT_LT(with_fingerprints(16), 0.0002);
  const ParrotBuilder exact = built({.keeps_keys = true}, keys);
  EXPECT_EQ(maybe_share(reader_of(exact), strangers), 0);
  expect_all(reader_of(exact), keys, 16);
}

// Keys in runs under an RMI lie where its lines meet; a spline follows them.
TEST(Parrot, takes_the_model_that_fits_and_says_what_it_tried) {
  const ParrotBuilder vendors = built({}, vendor_keys(300'000, 6));
  ASSERT_GE(vendors.trials().size(), 2U);
  EXPECT_EQ(vendors.trials().back().choice.kind, ModelKind::kSpline);
  EXPECT_LT(vendors.report().stashed, vendors.size() / 20);
  const ParrotBuilder random = built({}, random_keys(300'000, 7));
  for (const ParrotBuilder::Trial& trial : random.trials()) {
    if (trial.image_bytes == 0) continue;
    EXPECT_GE(trial.image_bytes, random.trials().back().image_bytes) << trial.choice.format();
  }
}

// Steps take any keys, and have no room to spare: a stash is only for failed buckets, or for the
// fifth key on.
TEST(Parrot, of_steps_gives_each_key_its_value) {
  for (const auto& keys : {random_keys(100'000, 21), vendor_keys(100'000, 22)}) {
    for (const uint32_t size : {4U, 6U}) {
      const ParrotBuilder table = built({.model = ModelChoice{ModelKind::kSteps, size}}, keys);
      expect_all(reader_of(table), keys, 16);
      EXPECT_EQ(table.audit(), std::nullopt);
      const ParrotBuilder::Report report = table.report();
      EXPECT_EQ(report.buckets, (keys.size() + size - 1) / size);
      EXPECT_NEAR(static_cast<double>(report.stashed) / static_cast<double>(keys.size()),
                  size == 4 ? 0.0015 : 0.334, 0.002);
    }
  }
  const auto keys = random_keys(100'000, 23);
  constexpr ModelChoice kModel{ModelKind::kRmi, 128};
  const ParrotBuilder plain = built({.model = kModel}, keys);
  const ParrotBuilder stepped = built({.model = kModel, .has_steps = true}, keys);
  EXPECT_EQ(reader_of(stepped).head().model.kind, ModelKind::kSteps);
  EXPECT_EQ(stepped.trials().back().choice.kind, ModelKind::kRmi);
  EXPECT_EQ(stepped.report().stashed, plain.report().stashed);
  EXPECT_LT(stepped.report().buckets, plain.report().buckets);
  expect_all(reader_of(stepped), keys, 16);
  EXPECT_EQ(stepped.audit(), std::nullopt);
  expect_all(reader_of(stepped.rebuilt().value()), keys, 16);
}

TEST(Parrot, refuses_keys_that_no_model_fits) {
  const auto table = ParrotBuilder::build({.model = ModelChoice{ModelKind::kRmi, 8}},
                                          entries_of(vendor_keys(300'000, 8)));
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("no model fits the keys"), std::string::npos);
  EXPECT_NE(table.error().message.find("hashes its keys"), std::string::npos);
}

TEST(Parrot, refuses_what_cannot_be) {
  using Config = ParrotBuilder::Config;
  const auto refusal = [](const Config& config, std::vector<ParrotEntry> entries) {
    const auto table = ParrotBuilder::build(config, std::move(entries));
    return table ? std::string() : table.error().message;
  };
  EXPECT_EQ(refusal({.key_bits = 0}, {{1, 1}}), "key_bits: give 1 to 64");
  EXPECT_EQ(refusal({.value_bits = 3}, {{1, 1}}), "value_bits: give 4 to 32");
  EXPECT_EQ(refusal({.fingerprint_bits = 9}, {{1, 1}}), "fingerprint_bits: give 0, 8, 12 or 16");
  EXPECT_EQ(refusal({.load = 0}, {{1, 1}}), "load: give more than 0 and at most 1");
  EXPECT_EQ(refusal({}, {}), "there is no entry to build a table of");
  EXPECT_EQ(refusal({}, {{7, 1}, {6, 2}, {7, 3}}), "key 7 is there twice");
  EXPECT_EQ(refusal({.key_bits = 8}, {{256, 1}}), "key 256 has more than 8 bits");
  EXPECT_EQ(refusal({.value_bits = 8}, {{1, 255}}),
            "key 1 has the value 255; values of 8 bits are below 255");
}

// Four keys that no seed tells apart, near each other, and one far from them.
std::vector<uint64_t> failing_keys() {
  traffic::Draw draw(9);
  while (true) {
    const uint64_t first = draw.word() >> 18;
    std::vector<uint64_t> keys = {first};
    for (int i = 0; i < 3; ++i) keys.push_back(first + 1 + draw.below(1U << 20));
    keys = distinct(std::move(keys));
    if (keys.size() != kBucketSlots || find_seed(keys)) continue;
    keys.push_back(first + (uint64_t{1} << 40));
    return keys;
  }
}

TEST(Parrot, x102_a_failed_bucket_has_all_its_keys_in_the_stash) {
  const std::vector<uint64_t> keys = failing_keys();
  const ParrotBuilder table = built({.load = 1, .model = ModelChoice{ModelKind::kRmi, 1}}, keys);
  expect_all(reader_of(table), keys, 16);
  EXPECT_EQ(table.audit(), std::nullopt);
  EXPECT_EQ(table.report().failed_buckets, 1U);
  EXPECT_EQ(table.report().stashed, 4U);
}

TEST(Parrot, images_that_are_cut_foreign_or_changed_are_refused) {
  const ParrotBuilder table = built({}, random_keys(10'000, 10));
  const std::vector<std::byte> good = table.exported();
  ASSERT_TRUE(ParrotReader::open(good)) << ParrotReader::open(good).error().message;
  for (const size_t bytes : {size_t{0}, size_t{8}, sizeof(ImageHead), sizeof(ParrotHead) - 1,
                             good.size() / 2, good.size() - 1})
    EXPECT_FALSE(ParrotReader::open(std::span(good).first(bytes))) << bytes;
  for (size_t at = 0; at < good.size(); at += at < 256 ? 1 : 997) {
    std::vector<std::byte> changed = good;
    changed[at] ^= std::byte{0x40};
    // The head's own sum may be changed to "none".
    const auto opened = ParrotReader::open(changed);
    EXPECT_FALSE(opened && opened.value().head().image.checksum != 0) << at;
  }
}

TEST(Parrot, models_whose_shifts_no_number_has_are_refused) {
  const ParrotBuilder table = built({}, vendor_keys(5'000, 11));
  const auto refused = [&](auto&& change) {
    std::vector<std::byte> changed(table.image().begin(), table.image().end());
    ParrotHead head;
    std::memcpy(&head, changed.data(), sizeof head);
    EXPECT_EQ(head.model.kind, ModelKind::kSpline);
    change(head.model);
    std::memcpy(changed.data(), &head, sizeof head);
    return !ParrotReader::open(changed);
  };
  EXPECT_FALSE(refused([](ModelHead&) {}));
  EXPECT_TRUE(refused([](ModelHead& model) { model.root_shift = 64; }));
  EXPECT_TRUE(refused([](ModelHead& model) { model.scale_bits = 32; }));
  EXPECT_TRUE(refused([](ModelHead& model) { model.prefix_count = 1; }));
}

// Without its checksum an image of anything is refused, found wrong by the audit, or can be read.
TEST(Parrot, any_bytes_can_be_read_once_the_audit_finds_nothing) {
  const ParrotBuilder table = built({}, vendor_keys(5'000, 11));
  const std::vector<std::byte> good(table.image().begin(), table.image().end());
  const auto asked = random_keys(500, 12);
  traffic::Draw draw(13);
  uint64_t found_wrong = 0;
  for (uint64_t i = 0; i < step_count(20'000); ++i) {
    std::vector<std::byte> changed = good;
    const size_t span = i % 2 == 0 ? sizeof(ParrotHead) + 400 : good.size();
    for (uint64_t flips = 1 + draw.below(4); flips > 0; --flips)
      changed[draw.below(span)] ^= static_cast<std::byte>(1U << draw.below(8));
    const auto opened = ParrotReader::open(changed);
    if (!opened || opened.value().audit()) {
      ++found_wrong;
    } else {
      static_cast<void>(maybe_share(opened.value(), asked));
    }
  }
  EXPECT_GT(found_wrong, step_count(20'000) / 10);
}

}  // namespace
}  // namespace roost::compact
