// Parrot tables as switches have them, and who is asked, for the tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "roost/base/hit_words.h"
#include "roost/compact/parrot_builder.h"
#include "roost/compact/parrot_reader.h"
#include "roost/traffic/draw.h"
#include "targets/switch/switch_program.h"
#include "targets/switch/switch_table.h"
#include "tests/compact/key_sets.h"

namespace roost::targets {

inline compact::ParrotBuilder table_of(const compact::ParrotBuilder::Config& config,
                                       const std::vector<uint64_t>& keys) {
  auto table = compact::ParrotBuilder::build(config, compact::entries_of(keys, config.value_bits));
  EXPECT_TRUE(table) << table.error().message;
  return std::move(table).value();
}

// Six keys a bucket: four in slots, two in the stash.
inline constexpr compact::ModelChoice kSixKeys{compact::ModelKind::kSteps, 6};
inline constexpr compact::ModelChoice kFourKeys{compact::ModelKind::kSteps, 4};

// The keys, as many strangers by chance, the neighbours of some keys, and both ends.
inline std::vector<uint64_t> asked_of(const std::vector<uint64_t>& keys, uint64_t seed) {
  std::vector<uint64_t> asked = keys;
  for (const uint64_t stranger : compact::random_keys(keys.size(), seed)) asked.push_back(stranger);
  for (size_t i = 0; i < keys.size(); i += 16)
    asked.insert(asked.end(), {(keys[i] - 1) & kSwitchKeyMask, (keys[i] + 1) & kSwitchKeyMask});
  asked.insert(asked.end(), {0, 1, kSwitchKeyMask - 1, kSwitchKeyMask});
  return asked;
}

// A match table whose longest prefix wins.
class LongestPrefixes {
 public:
  explicit LongestPrefixes(const std::vector<RangeEntry>& entries) {
    for (const RangeEntry& entry : entries)
      EXPECT_TRUE(
          by_bits_[entry.prefix.free_bits].emplace(entry.prefix.first, entry.bucket).second);
  }
  [[nodiscard]] std::optional<uint32_t> bucket_of(uint64_t number) const {
    for (const auto& [free_bits, prefixes] : by_bits_) {
      const auto found = prefixes.find(number >> free_bits << free_bits);
      if (found != prefixes.end()) return found->second;
    }
    return {};
  }

 private:
  std::map<unsigned, std::unordered_map<uint64_t, uint32_t>> by_bits_;
};

// What the C++ reader answers.
inline std::vector<std::optional<uint32_t>> answers_of(const compact::ParrotBuilder& table,
                                                       const std::vector<uint64_t>& asked) {
  const auto reader = compact::reader_of(table);
  std::vector<uint32_t> values(asked.size());
  std::vector<uint64_t> words(hit_word_count(asked.size()));
  static_cast<void>(reader.lookup_unverified(asked, values, HitWords(words)));
  std::vector<std::optional<uint32_t>> answers(asked.size());
  for (size_t i = 0; i < asked.size(); ++i)
    if ((words[i / 64] >> (i % 64) & 1U) != 0) answers[i] = values[i];
  return answers;
}

}  // namespace roost::targets
