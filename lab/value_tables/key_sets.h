// Keys of the kinds that value-only tables are measured with.
//
//   mac        random, 48 bits
//   tuple      random 5-tuples of TCP, 104 bits
//   addresses  their first 64 bits, both addresses: what a table of 64-bit keys has of them
//   vendor     48-bit addresses in runs under prefixes that vendors have (IEEE's list)
//   dense      48 bits, one after the other
//   arrivals   times of events in milliseconds: a stand-in for WIKI's, *synthetic*
//   lognormal  a stand-in for BOOK's, *synthetic*
//   a file     in SOSD's form: how many, then so many words of 64 bits, little-endian
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/harness/value_contestant.h"
#include "roost/base/result.h"

namespace roost::lab {

template <class Key>
struct KeySet {
  unsigned key_bits = 0;
  std::vector<Key> keys;  // rising by model_word(), each word once
};

struct KeySetConfig {
  std::string name;  // as above; a file by its path, which has a slash
  uint64_t count = 0;
  uint64_t seed = 1;
  std::string vendors = "/usr/share/ieee-data/oui.txt";
};

[[nodiscard]] inline bool has_tuples(const KeySetConfig& config) { return config.name == "tuple"; }

// Errors: there is no such set; the vendors' list or the file cannot be read, or has too few keys.
// Time n log n.
template <class Key>
[[nodiscard]] Result<KeySet<Key>> make_key_set(const KeySetConfig& config);
template <>
Result<KeySet<uint64_t>> make_key_set(const KeySetConfig& config);
template <>
Result<KeySet<traffic::Key104>> make_key_set(const KeySetConfig& config);

// The entries of a set.
template <class Key>
[[nodiscard]] std::vector<ValueEntry<Key>> entries_of_keys(const std::vector<Key>& keys,
                                                           uint32_t value_bits) {
  std::vector<ValueEntry<Key>> entries(keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    entries[i] = {keys[i], value_of_word(mixed_word(keys[i]), value_bits)};
  return entries;
}

// Keys that a set has not, one of two drawn from all that have as many bits, the other close behind
// a key of the set.
template <class Key>
[[nodiscard]] std::vector<Key> draw_strangers(const KeySet<Key>& set, size_t count, uint64_t seed);
template <>
std::vector<uint64_t> draw_strangers(const KeySet<uint64_t>& set, size_t count, uint64_t seed);
template <>
std::vector<traffic::Key104> draw_strangers(const KeySet<traffic::Key104>& set, size_t count,
                                            uint64_t seed);

// Places of keys that are asked for: drawn evenly, or by Zipf's law with ranks that are shuffled,
// so that neighbours in rank are none in order.
[[nodiscard]] std::vector<uint32_t> draw_places(uint64_t key_count, size_t count, double exponent,
                                                uint64_t seed);

}  // namespace roost::lab
