// The hashes: golden values, quality on random and on structured keys, and the bucket map on top.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "roost/hash/bucket_map.h"
#include "roost/hash/crc32c_hash.h"
#include "roost/hash/keyed_hash.h"
#include "roost/hash/keyed_permutation.h"
#include "roost/hash/random_seed.h"

namespace roost {
namespace {

std::array<unsigned char, 64> counting_bytes() {
  std::array<unsigned char, 64> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
  return bytes;
}

// Stored images and reproducible runs rest on these: a change of any of them is a change of format.
TEST(KeyedHash, golden_values) {
  const auto bytes = counting_bytes();
  EXPECT_EQ(KeyedHash(0).hash<8>(bytes.data()).bits, 0xAC9E0D755826BCB9U);
  EXPECT_EQ(KeyedHash(0).hash<16>(bytes.data()).bits, 0xFDC87EADC9AADE4DU);
  EXPECT_EQ(KeyedHash(1).hash<16>(bytes.data()).bits, 0xC6EB9213D05B42A1U);
  EXPECT_EQ(KeyedHash(0).hash<40>(bytes.data()).bits, 0xD91653B80DF6F996U);
  EXPECT_EQ(KeyedHash(1).hash<40>(bytes.data()).bits, 0xB56C9B26B353CE94U);
  EXPECT_EQ(KeyedHash(~uint64_t{0}).hash<64>(bytes.data()).bits, 0xAF9B790734ABAC37U);
  EXPECT_EQ(Crc32cHash(1).hash<16>(bytes.data()).bits, 0x8F747878661BA3EBU);
}

// Flipping any bit of the key or any bit of the seed flips every bit of the hash half of the time.
template <size_t kBytes>
void expect_avalanche() {
  std::mt19937_64 random(3);
  constexpr unsigned kRounds = 4000;
  for (size_t flipped = 0; flipped < kBytes * 8; ++flipped) {
    std::array<unsigned, 64> flips{};
    for (unsigned round = 0; round < kRounds; ++round) {
      std::array<uint64_t, kBytes / 8> key;
      for (uint64_t& word : key) word = random();
      const KeyedHash hash(random());
      const uint64_t before = hash.hash<kBytes>(key.data()).bits;
      key[flipped / 64] ^= uint64_t{1} << (flipped % 64);
      uint64_t changed = before ^ hash.hash<kBytes>(key.data()).bits;
      for (; changed != 0; changed &= changed - 1)
        ++flips[static_cast<size_t>(std::countr_zero(changed))];
    }
    // Five standard deviations of a fair coin, over 64 bits of each of the key's bits.
    const double margin = 5.5 * std::sqrt(kRounds) / 2;
    for (const unsigned count : flips)
      ASSERT_NEAR(count, kRounds / 2.0, margin) << "key bit " << flipped;
  }
}

TEST(KeyedHash, every_key_bit_moves_every_hash_bit) {
  expect_avalanche<16>();
  expect_avalanche<40>();
}

TEST(KeyedHash, different_seeds_give_unrelated_hashes) {
  const auto bytes = counting_bytes();
  std::set<uint64_t> hashes;
  for (uint64_t seed = 0; seed < 10'000; ++seed)
    hashes.insert(KeyedHash(seed).hash<16>(bytes.data()).bits);
  EXPECT_EQ(hashes.size(), 10'000U);
}

TEST(KeyedHash, structured_keys_do_not_collide_in_64_bits_and_spread_evenly) {
  // Counters in one word at a time, as addresses and ports are; buckets and tags must look random.
  const KeyedHash hash(7);
  for (const size_t word : {0U, 1U}) {
    for (const unsigned shift : {0U, 16U, 48U}) {
      std::set<uint64_t> seen;
      std::vector<unsigned> buckets(1024);
      std::vector<unsigned> tags(1024);
      const BucketMap map(1024);
      constexpr unsigned kKeys = 1U << 16;
      for (uint64_t i = 0; i < kKeys; ++i) {
        std::array<uint64_t, 2> key{};
        key[word] = i << shift;
        const Hash64 h = hash.hash<16>(key.data());
        seen.insert(h.bits);
        ++buckets[static_cast<size_t>(map.primary(h))];
        ++tags[static_cast<uint16_t>(tag_of(h)) % 1024];
      }
      ASSERT_EQ(seen.size(), kKeys);
      const double expected = kKeys / 1024.0;
      double bucket_chi = 0;
      double tag_chi = 0;
      for (size_t i = 0; i < 1024; ++i) {
        bucket_chi += (buckets[i] - expected) * (buckets[i] - expected) / expected;
        tag_chi += (tags[i] - expected) * (tags[i] - expected) / expected;
      }
      // Chi-square with 1,023 degrees of freedom: mean 1,023, standard deviation 45.
      EXPECT_LT(bucket_chi, 1023 + 5 * 45.2);
      EXPECT_LT(tag_chi, 1023 + 5 * 45.2);
    }
  }
}

TEST(BucketMap, primary_buckets_cover_any_bucket_count_evenly) {
  std::mt19937_64 random(5);
  for (const uint64_t n : {2U, 6U, 10U, 1000U}) {
    const BucketMap map(n);
    std::vector<unsigned> primary(n);
    std::vector<unsigned> other(n);
    for (unsigned i = 0; i < 100'000; ++i) {
      const Hash64 hash{random()};
      ++primary[static_cast<size_t>(map.primary(hash))];
      ++other[static_cast<size_t>(map.other(map.primary(hash), tag_of(hash)))];
    }
    const double expected = 100'000.0 / static_cast<double>(n);
    for (const unsigned count : primary) EXPECT_NEAR(count, expected, 6 * std::sqrt(expected));
    for (const unsigned count : other) EXPECT_NEAR(count, expected, 7 * std::sqrt(expected));
  }
}

TEST(BucketMap, a_bucket_and_a_tag_lead_to_the_other_bucket_and_back) {
  for (const uint64_t n :
       {uint64_t{2}, uint64_t{10}, uint64_t{4'194'304}, (uint64_t{1} << 37) + 6}) {
    const BucketMap map(n);
    std::mt19937_64 random(6);
    for (unsigned i = 0; i < 10'000; ++i) {
      const BucketIndex bucket{random() % n};
      const Tag tag{i % 2 == 0 ? random() & 0xFFFF : random() >> 18};  // 16 bits, or 46
      const BucketIndex other = map.other(bucket, tag);
      ASSERT_LT(static_cast<uint64_t>(other), n);
      ASSERT_NE(other, bucket);
      ASSERT_EQ(map.other(other, tag), bucket);
    }
  }
}

TEST(BucketMap, functions_lead_to_buckets_of_the_other_parity_all_over_the_table) {
  for (const uint64_t n : {uint64_t{2}, uint64_t{10}, uint64_t{1000}, (uint64_t{1} << 37) + 6}) {
    const BucketMap map(n);
    std::mt19937_64 random(6);
    for (unsigned i = 0; i < 10'000; ++i) {
      const uint64_t bucket = random() % n;
      const auto reached =
          static_cast<uint64_t>(map.reached(BucketIndex{bucket}, static_cast<unsigned>(i % 100)));
      ASSERT_LT(reached, n);
      ASSERT_NE(reached % 2, bucket % 2);
    }
  }
  // Two moves by 40 functions lead to nearly 40 x 40 places, and from each bucket to others.
  const BucketMap map(uint64_t{1} << 30);
  std::set<uint64_t> places;
  for (unsigned first = 0; first < 40; ++first) {
    for (unsigned second = 0; second < 40; ++second) {
      for (const uint64_t from : {uint64_t{0}, uint64_t{2}, uint64_t{1'000'000}}) {
        places.insert(
            static_cast<uint64_t>(map.reached(map.reached(BucketIndex{from}, first), second)));
      }
    }
  }
  EXPECT_GE(places.size(), 3U * 40 * 40 - 10);
}

TEST(BucketMap, a_bucket_and_the_lowest_bits_give_a_hash_back) {
  constexpr unsigned kLowest = 46;
  constexpr uint64_t kMask = (uint64_t{1} << kLowest) - 1;
  std::mt19937_64 random(8);
  for (const unsigned bits : {32U, 48U, 56U, 60U}) {
    // The fewest buckets that the lowest bits do for, and others.
    const uint64_t least = bits <= kLowest ? 2 : uint64_t{1} << (bits - kLowest);
    for (const uint64_t n : {least, least + 2, 3 * least, 1000 * least + 998}) {
      const BucketMap map(n);
      for (unsigned i = 0; i < 20'000; ++i) {
        // Half of them at a bucket's ends.
        uint64_t word = random() >> (64 - bits);
        if (i % 2 == 0) {
          const uint64_t bucket = random() % n;
          __extension__ using Wide = unsigned __int128;
          const auto first = static_cast<uint64_t>(((Wide{bucket} << bits) + n - 1) / n);
          word = first == 0 || i % 4 == 0 ? first : first - 1;
        }
        const Hash64 hash{word << (64 - bits)};
        ASSERT_EQ(map.hash_in(map.primary(hash), bits, word & kMask, kMask).bits, hash.bits)
            << bits << " bits, " << n << " buckets";
      }
    }
  }
}

TEST(BucketMap, the_fewest_lowest_bits_that_tell_a_bucket_s_hashes_apart_are_enough) {
  for (unsigned bits = 2; bits <= 9; ++bits) {
    const uint64_t hashes = uint64_t{1} << bits;
    for (uint64_t n = 2; n <= hashes; n += 2) {
      const BucketMap map(n);
      const uint64_t mask = std::bit_ceil((hashes + n - 1) / n) - 1;
      for (uint64_t word = 0; word < hashes; ++word) {
        const Hash64 hash{word << (64 - bits)};
        ASSERT_EQ(map.hash_in(map.primary(hash), bits, word & mask, mask).bits, hash.bits)
            << bits << " bits, " << n << " buckets";
      }
    }
  }
}

// Stored images rest on these, too.
TEST(KeyedPermutation, golden_values) {
  EXPECT_EQ(KeyedPermutation(0, 48).permuted(1).bits, 0xF58A2C492D600000U);
  EXPECT_EQ(KeyedPermutation(1, 60).permuted(0x123456789ABCDEF).bits, 0x7E862FA4C2CBBCB0U);
  EXPECT_EQ(KeyedPermutation(~uint64_t{0}, 8).permuted(255).bits, 0x2100000000000000U);
}

TEST(KeyedPermutation, short_keys_have_each_hash_once) {
  for (const unsigned bits : {8U, 9U, 13U, 16U}) {
    for (const uint64_t seed : {0U, 1U, 77U}) {
      const KeyedPermutation permutation(seed, bits);
      std::vector<bool> seen(size_t{1} << bits);
      for (uint64_t key = 0; key < seen.size(); ++key) {
        const Hash64 hash = permutation.permuted(key);
        ASSERT_EQ(hash.bits << bits, 0U) << "the hash is the uppermost bits";
        ASSERT_FALSE(seen[hash.bits >> (64 - bits)]);
        seen[hash.bits >> (64 - bits)] = true;
        ASSERT_EQ(permutation.key_of(hash), key);
      }
    }
  }
}

TEST(KeyedPermutation, the_hash_of_any_key_gives_it_back) {
  std::mt19937_64 random(9);
  for (unsigned bits = KeyedPermutation::kBitsMin; bits <= KeyedPermutation::kBitsMax; ++bits) {
    const KeyedPermutation permutation(random(), bits);
    const IdentityPermutation identity(random(), bits);
    for (unsigned i = 0; i < 5'000; ++i) {
      const uint64_t key = random() >> (64 - bits);
      ASSERT_EQ(permutation.key_of(permutation.permuted(key)), key);
      ASSERT_EQ(identity.key_of(identity.permuted(key)), key);
    }
  }
}

// Structured keys lead to buckets, and from there to other ones, as evenly as random ones would.
TEST(KeyedPermutation, structured_keys_spread_over_both_buckets_evenly) {
  constexpr uint64_t kBuckets = 4096;
  constexpr uint64_t kKeys = 400'000;
  const BucketMap map(kBuckets);
  for (const unsigned stride_bits : {0U, 3U, 8U, 16U, 24U, 28U}) {
    for (const uint64_t seed : {1U, 2U, 3U}) {
      const KeyedPermutation permutation(seed, 48);
      std::vector<unsigned> primary(kBuckets);
      std::vector<unsigned> other(kBuckets);
      for (uint64_t i = 0; i < kKeys; ++i) {
        const Hash64 hash = permutation.permuted(i << stride_bits & 0xFFFF'FFFF'FFFF);
        const Tag remainder{hash.bits >> 16 & ((uint64_t{1} << 46) - 1)};
        ++primary[static_cast<size_t>(map.primary(hash))];
        ++other[static_cast<size_t>(map.other(map.primary(hash), remainder))];
      }
      // A sum of squares of that many buckets deviates by sqrt(2 x buckets) at random; keys that
      // are spread better than at random are welcome.
      const auto excess = [](const std::vector<unsigned>& counts) {
        constexpr double kExpected = static_cast<double>(kKeys) / kBuckets;
        double sum = 0;
        for (const unsigned count : counts) sum += (count - kExpected) * (count - kExpected);
        return (sum / kExpected - kBuckets) / std::sqrt(2.0 * kBuckets);
      };
      EXPECT_LT(excess(primary), 6) << "stride 2^" << stride_bits << ", seed " << seed;
      EXPECT_LT(excess(other), 6) << "stride 2^" << stride_bits << ", seed " << seed;
    }
  }
}

TEST(RandomSeed, is_not_the_same_twice) { EXPECT_NE(random_seed(), random_seed()); }

}  // namespace
}  // namespace roost
