// Keys for the tests of value-only tables.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lab/value_tables/key_sets.h"
#include "roost/traffic/draw.h"

namespace roost::lab {

inline constexpr uint64_t kKeys = 3'000;
inline constexpr std::array kWordSets = {"mac", "addresses", "dense", "arrivals", "lognormal"};

template <class Key = uint64_t>
KeySet<Key> keys_of(const std::string& name, uint64_t count = kKeys, uint64_t seed = 1) {
  auto set = make_key_set<Key>({.name = name, .count = count, .seed = seed});
  EXPECT_TRUE(set) << set.error().message;
  return std::move(set).value();
}

// Of 48 bits.
inline std::vector<uint64_t> random_words(size_t count) {
  traffic::Draw draw(17);
  std::vector<uint64_t> words(count);
  for (uint64_t& word : words) word = draw.word() >> 16;
  return words;
}

}  // namespace roost::lab
