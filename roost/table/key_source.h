// Where a batch's keys and hashes come from: contiguous or pointed to, hashed here or by the
// caller, or on their way. A source's keys are padded keys: shorter ones get their zeroes when
// they are read.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "roost/base/assert.h"
#include "roost/hash/hash64.h"
#include "roost/table/entry.h"

namespace roost {

// A copy of a key with zeroes behind it (padded_key_bytes()). It stands for a pointer to its bytes.
template <size_t kPaddedBytes>
struct PaddedKey {
  std::array<uint64_t, kPaddedBytes / 8> words;

  operator const std::byte*() const { return reinterpret_cast<const std::byte*>(words.data()); }
};

// Copies a key of kKeyBytes bytes. Of a last word that the key does not fill, the key's last eight
// bytes are read and shifted: bytes stored one by one could not be read again as a register at
// once. Example: of 13 bytes, the second word is bytes 5 to 12 shifted right by three.
template <size_t kKeyBytes>
[[nodiscard]] PaddedKey<padded_key_bytes(kKeyBytes)> padded_key(const std::byte* key) {
  static_assert(std::endian::native == std::endian::little, "the shift drops the lower bytes");
  constexpr size_t kWhole = kKeyBytes / 8;
  constexpr size_t kRest = kKeyBytes % 8;
  PaddedKey<padded_key_bytes(kKeyBytes)> padded{};
  for (size_t word = 0; word < kWhole; ++word) std::memcpy(&padded.words[word], key + word * 8, 8);
  if constexpr (kRest != 0 && kWhole != 0) {
    std::memcpy(&padded.words[kWhole], key + kKeyBytes - 8, 8);
    padded.words[kWhole] >>= 64 - 8 * kRest;
  } else if constexpr (kRest != 0) {
    std::memcpy(&padded.words[0], key, kRest);
  }
  return padded;
}

// The bytes of a key as a table compares them: in place, or padded.
template <class Key>
[[nodiscard]] auto bytes_of_key(const Key* key) {
  constexpr size_t kPaddedBytes = padded_key_bytes(sizeof(Key));
  if constexpr (kPaddedBytes == sizeof(Key)) {
    return reinterpret_cast<const std::byte*>(key);
  } else {
    return padded_key<sizeof(Key)>(reinterpret_cast<const std::byte*>(key));
  }
}

// Keys side by side.
template <class Key>
struct ContiguousKeys {
  const Key* first;
  size_t count;

  [[nodiscard]] auto operator[](size_t lane) const { return bytes_of_key(first + lane); }
};

// Keys wherever they are, inside packets for instance.
template <class Key>
struct PointedKeys {
  const Key* const* first;
  size_t count;

  [[nodiscard]] auto operator[](size_t lane) const { return bytes_of_key(first[lane]); }
};

template <class Key>
[[nodiscard]] ContiguousKeys<Key> key_source(std::span<const Key> keys) {
  return {keys.data(), keys.size()};
}

template <class Key>
[[nodiscard]] PointedKeys<Key> key_source(std::span<const Key* const> keys) {
  return {keys.data(), keys.size()};
}

// Hashes the table computes.
template <class Hash, size_t kKeyBytes>
struct ComputedHashes {
  const Hash* hash;

  [[nodiscard]] Hash64 operator()(size_t /*lane*/, const std::byte* key) const {
    return hash->template hash<kKeyBytes>(key);
  }
};

// Hashes the caller has, one a lane, from FlowTable::hash_batch.
struct GivenHashes {
  const Hash64* first;

  [[nodiscard]] Hash64 operator()(size_t lane, const std::byte* /*key*/) const {
    return first[lane];
  }
};

// Keys whose hashes the caller has already, from FlowTable::hash_batch. `Keys` is a span of keys or
// of pointers.
template <class Keys>
struct HashedKeys {
  Keys keys;
  std::span<const Hash64> hashes;
};
template <class Keys>
HashedKeys(Keys, std::span<const Hash64>) -> HashedKeys<Keys>;

// The same, of keys whose lines were asked for one by one, by FlowTable::prefetch.
template <class Keys>
struct PrefetchedKeys {
  Keys keys;
  std::span<const Hash64> hashes;
};
template <class Keys>
PrefetchedKeys(Keys, std::span<const Hash64>) -> PrefetchedKeys<Keys>;

// Lanes whose hashes a split-phase lookup computes, and whose lines it prefetches, ahead of the
// rest.
inline constexpr size_t kInFlightLanesMax = 64;

// A lookup that was started: hashes and prefetches are under way. It borrows the keys (and given
// hashes) until it is finished, by the table that started it, which must stay where it is but may
// change in between. One that is never finished costs nothing.
template <class Keys, class Hashes>
struct InFlight {
  Keys keys;
  Hashes hashes;
  std::array<Hash64, kInFlightLanesMax> started;

  [[nodiscard]] size_t started_count() const {
    return keys.count < kInFlightLanesMax ? keys.count : kInFlightLanesMax;
  }
};

// Any of the above as the batch loops see it: keys, hashes, and the lanes that are on their way
// already.
template <class Keys, class Hashes>
struct KeyBatch {
  Keys keys;
  Hashes hashes;
  const Hash64* started = nullptr;
  size_t started_count = 0;
};

// A batch of whatever FlowTable's functions take as keys.
template <class Key, class Hash>
struct KeyBatchOf {
  const Hash* hash;

  auto operator()(std::span<const Key> keys) const { return computed(key_source(keys)); }
  auto operator()(std::span<const Key* const> keys) const { return computed(key_source(keys)); }

  template <class Keys>
  auto operator()(const HashedKeys<Keys>& hashed) const {
    const auto keys = (*this)(hashed.keys).keys;
    ROOST_ASSERT(hashed.hashes.size() >= keys.count);
    return KeyBatch<decltype(keys), GivenHashes>{keys, {hashed.hashes.data()}};
  }

  template <class Keys>
  auto operator()(const PrefetchedKeys<Keys>& asked) const {
    auto batch = (*this)(HashedKeys<Keys>{asked.keys, asked.hashes});
    batch.started = asked.hashes.data();
    batch.started_count = batch.keys.count;
    return batch;
  }

  template <class Keys, class Hashes>
  auto operator()(const InFlight<Keys, Hashes>& flight) const {
    return KeyBatch<Keys, Hashes>{flight.keys, flight.hashes, flight.started.data(),
                                  flight.started_count()};
  }

 private:
  template <class Keys>
  auto computed(Keys keys) const {
    using Hashes = ComputedHashes<Hash, padded_key_bytes(sizeof(Key))>;
    return KeyBatch<Keys, Hashes>{keys, Hashes{hash}};
  }
};

}  // namespace roost
