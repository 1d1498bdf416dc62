// CRC-8: known answers, and how many buckets fail by how the seed comes in (T-17, X-100, X-101).
#include "roost/compact/crc8.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string_view>

#include "roost/compact/parrot_plan.h"
#include "roost/traffic/draw.h"

namespace roost::compact {
namespace {

TEST(Crc8, x101_has_the_check_value_of_the_form_that_is_not_reflected) {
  uint8_t crc = 0;
  for (const char byte : std::string_view("123456789")) {
    crc = crc8_append(crc, static_cast<uint8_t>(byte));
  }
  EXPECT_EQ(crc, 0xa2);
}

TEST(Crc8, takes_the_most_significant_byte_first) {
  traffic::Draw draw(1);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t key = draw.word() >> draw.below(64);
    uint8_t crc = 0;
    for (int place = 7; place >= 0; --place)
      crc = crc8_append(crc, static_cast<uint8_t>(key >> (8 * place)));
    ASSERT_EQ(crc8(key), crc) << key;
  }
  EXPECT_EQ(crc8(1), 0x31);
  EXPECT_EQ(crc8(0), 0);
}

TEST(Crc8, seeds_are_added_to_the_low_32_bits) {
  EXPECT_EQ(seeded(0x1234'ffff'ffff, 1), 0x1234'0000'0000U);
  EXPECT_EQ(seeded(0x1234'0000'00ff, 255), 0x1234'0000'01feU);
  EXPECT_EQ(seeded(7, 0), 7U);
}

TEST(Crc8, slots_are_of_bits_7_6_and_4_3) {
  for (unsigned crc = 0; crc < 256; ++crc) {
    const unsigned high = (crc >> 7 & 1U) * 2 + (crc >> 6 & 1U);
    const unsigned low = (crc >> 4 & 1U) * 2 + (crc >> 3 & 1U);
    EXPECT_EQ(slot_of_crc(static_cast<uint8_t>(crc)), (high + low) % 4);
  }
}

// By parities, as by the hash itself.
TEST(Crc8, slots_follow_from_the_hash) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t key = random() >> random() % 64;
    const auto seed = static_cast<uint8_t>(random());
    ASSERT_EQ(slot_of(key, seed), slot_of_crc(crc8(seeded(key, seed)))) << key;
  }
}

using Keys = std::array<uint64_t, kBucketSlots>;

// The share of buckets of four keys that no seed tells apart.
template <class Draw, class Slot>
double failed_share(Draw&& draw_keys, Slot&& slot) {
  constexpr int kBuckets = 20'000;
  int failed = 0;
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    const Keys keys = draw_keys();
    bool is_told_apart = false;
    for (unsigned seed = 0; seed < 256 && !is_told_apart; ++seed) {
      unsigned taken = 0;
      for (const uint64_t key : keys) taken |= 1U << slot(key, static_cast<uint8_t>(seed));
      is_told_apart = taken == 0xf;
    }
    failed += is_told_apart ? 0 : 1;
  }
  return static_cast<double>(failed) / kBuckets;
}

Keys random_bucket(traffic::Draw& draw) {
  Keys keys;
  for (uint64_t& key : keys) key = draw.word() >> 16;
  return keys;
}
// As under a model: four neighbours of a run.
Keys near_bucket(traffic::Draw& draw) {
  Keys keys = random_bucket(draw);
  for (size_t i = 1; i < keys.size(); ++i) keys[i] = keys[i - 1] + 1 + draw.below(16);
  return keys;
}
size_t slot_by_initial_value(uint64_t key, uint8_t seed) {
  uint8_t crc = seed;
  for (int place = 5; place >= 0; --place)
    crc = crc8_append(crc, static_cast<uint8_t>(key >> (8 * place)));
  return slot_of_crc(crc);
}

TEST(Crc8, x100_a_seed_in_the_key_leaves_few_buckets_that_fail) {
  traffic::Draw draw(2);
  EXPECT_LT(failed_share([&] { return random_bucket(draw); }, slot_of), 0.004);
  EXPECT_LT(failed_share([&] { return near_bucket(draw); }, slot_of), 0.004);
}

// Why it is not the initial value: the CRC is linear.
TEST(Crc8, x100_a_seed_as_initial_value_leaves_most_that_fail) {
  traffic::Draw draw(3);
  const double share = failed_share([&] { return random_bucket(draw); }, slot_by_initial_value);
  EXPECT_GT(share, 0.8);
  EXPECT_LT(share, 0.95);
}

TEST(Crc8, find_seed_gives_each_key_a_slot_of_its_own) {
  traffic::Draw draw(4);
  for (int i = 0; i < 10'000; ++i) {
    const Keys keys = random_bucket(draw);
    for (size_t count = 0; count <= keys.size(); ++count) {
      const auto seed = find_seed(std::span(keys).first(count));
      if (!seed) continue;
      unsigned taken = 0;
      for (size_t key = 0; key < count; ++key) taken |= 1U << slot_of(keys[key], *seed);
      EXPECT_EQ(static_cast<size_t>(std::popcount(taken)), count);
    }
  }
}

}  // namespace
}  // namespace roost::compact
