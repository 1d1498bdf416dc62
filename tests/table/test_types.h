// Keys, values and hashes for table tests.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "roost/hash/hash64.h"
#include "roost/hash/keyed_hash.h"
#include "roost/hash/keyed_permutation.h"
#include "roost/table/policies.h"
#include "tests/table/numbered_bytes.h"

namespace roost {

struct Key16 {
  uint64_t number;
  uint64_t rest;
  static Key16 of(uint64_t number) { return {number, ~number}; }
  friend auto operator<=>(const Key16&, const Key16&) = default;
};

struct Key40 {
  std::array<uint64_t, 5> words;
  // Keys that differ in their last word only, so that comparing less than the whole key shows.
  static Key40 of(uint64_t number) { return {{1, 2, 3, 4, number}}; }
  friend auto operator<=>(const Key40&, const Key40&) = default;
};

// A key of any size.
template <size_t kBytes>
struct ByteKey {
  std::array<uint8_t, kBytes> bytes;
  static ByteKey of(uint64_t number) {
    ByteKey key;
    write_numbered_key(number, std::as_writable_bytes(std::span(key.bytes)));
    return key;
  }
  friend auto operator<=>(const ByteKey&, const ByteKey&) = default;
};

// A value of `kBytes` bytes that says which number it was made from.
template <size_t kBytes>
struct Value {
  std::array<uint8_t, kBytes> bytes;
  static Value of(uint64_t number) {
    Value value;
    write_numbered_value(number, std::as_writable_bytes(std::span(value.bytes)));
    return value;
  }
  friend auto operator<=>(const Value&, const Value&) = default;
};

template <>
struct Value<0> : NoValue {
  static Value of(uint64_t /*number*/) { return {}; }
  friend bool operator==(const Value&, const Value&) { return true; }
};

// The keyed hash, or one that puts keys together, as the seed says: tables with hashes of both
// kinds are of one type then, and compiled once. What is added to such a seed makes another hash of
// its kind.
inline constexpr uint64_t kOneTagSeed = 0x7A60'0001'0000'0000;    // one tag, so that each bucket is
                                                                  // paired with one other only
inline constexpr uint64_t kConstantSeed = 0x7A60'0002'0000'0000;  // and the same two buckets

class TestHash {
 public:
  explicit TestHash(uint64_t seed)
      : keyed_(seed),
        kept_(is_of(kConstantSeed, seed) ? 0
              : is_of(kOneTagSeed, seed) ? ~uint64_t{0xFFFF}
                                         : ~uint64_t{0}),
        fixed_(is_of(kConstantSeed, seed) ? 0x5555'5555'5555'1234 : 0x0042) {}

  template <size_t kBytes>
  [[nodiscard]] Hash64 hash(const void* key) const {
    return Hash64{(keyed_.hash<kBytes>(key).bits & kept_) | (fixed_ & ~kept_)};
  }

 private:
  static bool is_of(uint64_t kind, uint64_t seed) { return seed >> 32 == kind >> 32; }

  KeyedHash keyed_;
  uint64_t kept_;
  uint64_t fixed_;
};

// The same for packed tables: the keyed permutation, or the identity, with which near keys are all
// of one bucket.
inline constexpr uint64_t kIdentitySeed = 0x7A60'0003'0000'0000;

class TestPermutation {
 public:
  static constexpr const char* kName = "test permutation";
  TestPermutation(uint64_t seed, unsigned bits)
      : keyed_(seed, bits),
        identity_(seed, bits),
        is_identity_(seed >> 32 == kIdentitySeed >> 32) {}

  [[nodiscard]] unsigned bits() const { return keyed_.bits(); }
  [[nodiscard]] Hash64 permuted(uint64_t key) const {
    return is_identity_ ? identity_.permuted(key) : keyed_.permuted(key);
  }
  [[nodiscard]] uint64_t key_of(Hash64 hash) const {
    return is_identity_ ? identity_.key_of(hash) : keyed_.key_of(hash);
  }
  template <size_t kBytes>
  [[nodiscard]] Hash64 hash(const void* key) const {
    uint64_t word = 0;
    std::memcpy(&word, key, sizeof(word));
    return permuted(word);
  }

 private:
  KeyedPermutation keyed_;
  IdentityPermutation identity_;
  bool is_identity_;
};

// The hash is the key's first word: tests choose buckets and tags by choosing keys.
struct FirstWordHash {
  explicit FirstWordHash(uint64_t /*seed*/) {}
  template <size_t kBytes>
  [[nodiscard]] Hash64 hash(const void* key) const {
    uint64_t word = 0;
    std::memcpy(&word, key, sizeof(word));
    return Hash64{word};
  }
};

}  // namespace roost
