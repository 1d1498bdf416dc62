// Keys by index: distinct, from their seed alone, and the same in both forms of 104 bits.
#include "roost/traffic/key_source.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace roost::traffic {
namespace {

constexpr uint64_t kKeys = 1000;

TEST(KeySource, inserted_and_absent_keys_are_distinct) {
  for (const unsigned key_bits : {48U, 104U, 128U}) {
    const KeySource keys(1, key_bits);
    std::set<std::array<uint64_t, 2>> seen;
    for (uint64_t index = 0; index < kKeys; ++index) {
      EXPECT_TRUE(is_inserted_key(keys.inserted(index)));
      EXPECT_FALSE(is_inserted_key(keys.absent(index)));
      seen.insert(keys.inserted(index).words);
      seen.insert(keys.absent(index).words);
    }
    EXPECT_EQ(seen.size(), 2 * kKeys);
  }
}

TEST(KeySource, another_seed_gives_other_keys) {
  EXPECT_EQ(KeySource(7).inserted(3), KeySource(7).inserted(3));
  EXPECT_NE(KeySource(7).inserted(3), KeySource(8).inserted(3));
  EXPECT_NE(KeySource(7).absent(3), KeySource(8).absent(3));
}

TEST(KeySource, a_key_of_104_bits_is_the_same_in_13_bytes_and_padded) {
  const KeySource keys(7, 104);
  for (uint64_t index = 0; index < kKeys; ++index) {
    for (const Key128& wide : {keys.inserted(index), keys.absent(index)}) {
      const auto narrow = narrowed<Key104>(wide);
      EXPECT_EQ(wide.words[1] >> 40, 0U);
      EXPECT_EQ(widened(narrow), wide);
      EXPECT_EQ(is_inserted_key(narrow), is_inserted_key(wide));
      EXPECT_EQ(value_of(narrow), value_of(wide));
      EXPECT_EQ(value_of<Value32>(narrow).word, static_cast<uint32_t>(value_of(wide).words[0]));
    }
  }
}

TEST(KeySource, a_key_of_48_bits_is_the_same_as_a_word) {
  const KeySource keys(7, 48);
  for (uint64_t index = 0; index < kKeys; ++index) {
    for (const Key128& wide : {keys.inserted(index), keys.absent(index)}) {
      const auto word = narrowed<Key48>(wide);
      EXPECT_EQ(word.word >> 48, 0U);
      EXPECT_EQ(widened(word), wide);
      EXPECT_EQ(is_inserted_key(word), is_inserted_key(wide));
      EXPECT_EQ(value_of<Value16>(word), value_of<Value16>(wide));
    }
  }
}

TEST(KeySource, keys_of_48_bits_spread_over_all_their_bits) {
  const KeySource keys(7, 48);
  std::array<uint64_t, 48> ones{};
  for (uint64_t index = 0; index < 10 * kKeys; ++index) {
    const uint64_t word = narrowed<Key48>(keys.inserted(index)).word;
    for (unsigned bit = 0; bit < ones.size(); ++bit) ones[bit] += word >> bit & 1;
  }
  EXPECT_EQ(ones[0], 0U);
  for (unsigned bit = 1; bit < ones.size(); ++bit) {
    EXPECT_NEAR(static_cast<double>(ones[bit]), 5.0 * kKeys, 0.5 * kKeys) << bit;
  }
}

TEST(Value16, generations_differ_in_what_is_not_summed_up) {
  const Value16 value = value_of<Value16>(KeySource(7, 48).inserted(3));
  EXPECT_EQ(of_generation(value, 0), value);
  EXPECT_NE(of_generation(value, 1), value);
  EXPECT_EQ(word_of(of_generation(value, 255)), word_of(value));
  EXPECT_EQ(of_generation(of_generation(value, 255), 1), value);
}

}  // namespace
}  // namespace roost::traffic
