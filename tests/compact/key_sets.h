// Keys of several kinds for the tests of value-only tables, from a seed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "roost/base/hit_words.h"
#include "roost/compact/parrot_builder.h"
#include "roost/traffic/draw.h"

namespace roost::compact {

inline constexpr uint64_t kMac = (uint64_t{1} << 48) - 1;

// So many different keys, rising.
inline std::vector<uint64_t> distinct(std::vector<uint64_t> keys) {
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  return keys;
}
inline std::vector<uint64_t> random_keys(size_t count, uint64_t seed, uint64_t mask = kMac) {
  traffic::Draw draw(seed);
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(draw.word() & mask);
  return distinct(std::move(keys));
}
inline std::vector<uint64_t> dense_keys(size_t count, uint64_t first = 0x0200'0000'0000) {
  std::vector<uint64_t> keys(count);
  for (size_t i = 0; i < count; ++i) keys[i] = first + i;
  return keys;
}
// Addresses as vendors give them: runs of some thousands under prefixes of 24 bits by chance.
inline std::vector<uint64_t> vendor_keys(size_t count, uint64_t seed) {
  traffic::Draw draw(seed);
  std::vector<uint64_t> keys;
  while (keys.size() < count) {
    const uint64_t prefix = (draw.word() & 0xffffff) << 24 | draw.below(1U << 24);
    const uint64_t length = 1'000 + draw.below(10'000);
    for (uint64_t i = 0; i < length && keys.size() < count; ++i) keys.push_back(prefix + i);
  }
  return distinct(std::move(keys));
}

// A value that tells keys apart mostly, below the reserved one.
inline uint32_t value_of(uint64_t key, uint32_t bits = 16) {
  const uint32_t absent = UINT32_MAX >> (32 - bits);
  return static_cast<uint32_t>(traffic::mix(key) % absent);
}
inline std::vector<ParrotEntry> entries_of(const std::vector<uint64_t>& keys, uint32_t bits = 16) {
  std::vector<ParrotEntry> entries;
  entries.reserve(keys.size());
  for (const uint64_t key : keys) entries.push_back({key, value_of(key, bits)});
  return entries;
}

inline ParrotReader reader_of(const ParrotBuilder& table) {
  return ParrotReader::open(table.image()).value();
}

// Whether the reader gives each key its value, in calls of all sizes up to 100.
template <class Reader>
void expect_all(const Reader& reader, const std::vector<uint64_t>& keys, uint32_t bits) {
  std::array<uint32_t, 100> values;
  HitArray<100> maybe;
  size_t size = 1;
  for (size_t at = 0; at < keys.size(); at += size, size = size % 100 + 1) {
    const auto asked = std::span(keys).subspan(at, std::min(size, keys.size() - at));
    ASSERT_EQ(reader.lookup_unverified(asked, values, maybe), asked.size());
    for (size_t lane = 0; lane < asked.size(); ++lane)
      ASSERT_EQ(values[lane], value_of(asked[lane], bits)) << asked[lane];
  }
}

}  // namespace roost::compact
