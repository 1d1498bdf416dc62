// What the circuit could have instead of CRC32C and of a power of two of buckets: the same numbers
// as the tables' own.
#include <gtest/gtest.h>

#include <Vhalo_bucket_scale.h>
#include <Vhalo_keyed_hash.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "roost/hash/bucket_map.h"
#include "roost/hash/keyed_hash.h"
#include "roost/hash/split_mix.h"
#include "roost/traffic/draw.h"

namespace roost {
namespace {

constexpr int kKeys = 20'000;  // of each length
constexpr size_t kSecretWords = 12;

// A port of words of 64 bits.
void drive_words(auto& port, size_t at, std::span<const uint64_t> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    port[2 * (at + i)] = static_cast<uint32_t>(words[i]);
    port[2 * (at + i) + 1] = static_cast<uint32_t>(words[i] >> 32);
  }
}

class KeyedHashCircuit {
 public:
  explicit KeyedHashCircuit(uint64_t seed) {
    std::array<uint64_t, kSecretWords> secrets;
    for (uint64_t& word : secrets) word = split_mix(seed);
    drive_words(circuit_.secrets, 0, secrets);
  }
  ~KeyedHashCircuit() { circuit_.final(); }

  uint64_t hash(std::span<const uint64_t> words) {
    circuit_.words = static_cast<uint8_t>(words.size());
    for (size_t word = 0; word < words.size(); word += 2) {
      std::array<uint64_t, 2> both{words[word], word + 1 < words.size() ? words[word + 1] : 0};
      drive_words(circuit_.bytes, 0, both);
      circuit_.is_first = word == 0;
      circuit_.part = static_cast<uint8_t>(word / 2);
      clock();
    }
    clock();
    return circuit_.hash;
  }

 private:
  void clock() {
    for (const int level : {0, 1}) {
      circuit_.clk = static_cast<uint8_t>(level);
      circuit_.eval();
    }
  }

  Vhalo_keyed_hash circuit_;
};

template <size_t kWords>
void expect_equal_hashes(uint64_t seed, traffic::Draw& draw) {
  const KeyedHash hash(seed);
  KeyedHashCircuit circuit(seed);
  for (int i = 0; i < kKeys; ++i) {
    std::array<uint64_t, kWords> key;
    for (uint64_t& word : key) word = draw.word();
    ASSERT_EQ(circuit.hash(key), hash.hash<8 * kWords>(key.data()).bits) << kWords << ", " << i;
  }
}

TEST(RtlOptions, the_keyed_hash_is_that_of_the_tables) {
  traffic::Draw draw(1);
  for (const uint64_t seed : {uint64_t{0}, ~uint64_t{0}, draw.word()}) {
    [&]<size_t... kWords>(std::index_sequence<kWords...>) {
      (expect_equal_hashes<kWords + 1>(seed, draw), ...);
    }(std::make_index_sequence<8>());
  }
}

TEST(RtlOptions, any_even_number_of_buckets_is_scaled_to) {
  traffic::Draw draw(2);
  Vhalo_bucket_scale circuit;
  for (int i = 0; i < 10 * kKeys; ++i) {
    const unsigned bits = 1 + static_cast<unsigned>(draw.word() % 32);
    const uint64_t count = std::max<uint64_t>(2, (draw.word() >> (64 - bits)) & ~uint64_t{1});
    const BucketMap map(i == 0 ? uint64_t{1} << 32 : count);
    const Hash64 hash{draw.word()};
    const Tag tag{static_cast<uint16_t>(hash.bits)};
    circuit.hash = hash.bits;
    circuit.spread = static_cast<uint64_t>(tag) * 0x9E3779B97F4A7C15U;
    circuit.bucket_count = map.bucket_count();
    circuit.eval();
    const BucketIndex primary = map.primary(hash);
    ASSERT_EQ(circuit.primary, static_cast<uint64_t>(primary)) << map.bucket_count();
    ASSERT_EQ(circuit.secondary, static_cast<uint64_t>(map.other(primary, tag)))
        << map.bucket_count() << ", " << hash.bits;
  }
  circuit.final();
}

}  // namespace
}  // namespace roost
