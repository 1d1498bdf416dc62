// A roost_keys as the batch loops see it: one source of keys and one of hashes for every form.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "capi/roost_types.h"
#include "roost/hash/hash64.h"
#include "roost/table/key_source.h"

namespace roost::capi {

// Copies a key and puts zeroes behind it up to its class, a word at a time and without a call: the
// last word is read from the key's last eight bytes and shifted. Example: of 13 bytes, the second
// word is bytes 5 to 12 shifted right by three.
template <size_t kPaddedBytes>
inline void copy_padded(std::array<uint64_t, kPaddedBytes / 8>& to, const std::byte* key,
                        size_t key_bytes) {
  static_assert(std::endian::native == std::endian::little, "the shift drops the lower bytes");
  const size_t whole = key_bytes / 8;
  const size_t rest = key_bytes % 8;
  for (size_t word = 0; word < to.size(); ++word) {
    to[word] = 0;
    if (word < whole) std::memcpy(&to[word], key + word * 8, 8);
  }
  if (rest == 0) return;
  if (whole == 0) {
    for (size_t byte = 0; byte < rest; ++byte)
      to[0] |= std::to_integer<uint64_t>(key[byte]) << (8 * byte);
    return;
  }
  std::memcpy(&to[whole], key + key_bytes - 8, 8);
  to[whole] >>= 64 - 8 * rest;
}

// A key where the caller has it, or a copy with zeroes behind it up to its class; it stands for a
// pointer to the bytes.
template <size_t kPaddedBytes>
class KeyView {
 public:
  KeyView(const std::byte* key, size_t key_bytes) : bytes_(key) {
    if (key_bytes == kPaddedBytes) return;
    copy_padded<kPaddedBytes>(padded_, key, key_bytes);
    bytes_ = reinterpret_cast<const std::byte*>(padded_.data());
  }
  KeyView(const KeyView&) = delete;
  KeyView& operator=(const KeyView&) = delete;

  operator const std::byte*() const { return bytes_; }

 private:
  const std::byte* bytes_;
  std::array<uint64_t, kPaddedBytes / 8> padded_;  // not initialised: most keys are in place
};

// Keys side by side, `key_bytes` apart, or where pointers say.
template <size_t kPaddedBytes>
struct KeySource {
  const std::byte* first;
  const void* const* pointers;
  size_t key_bytes;
  size_t count;

  [[nodiscard]] KeyView<kPaddedBytes> operator[](size_t lane) const {
    return {
        first != nullptr ? first + lane * key_bytes : static_cast<const std::byte*>(pointers[lane]),
        key_bytes};
  }
};

// Hashes that the caller has, or that the table computes.
template <class Hash, size_t kPaddedBytes>
struct HashSource {
  const Hash* hash;
  const uint64_t* given;

  [[nodiscard]] Hash64 operator()(size_t lane, const std::byte* key) const {
    return given != nullptr ? Hash64{given[lane]} : hash->template hash<kPaddedBytes>(key);
  }
};

template <class Hash, size_t kPaddedBytes>
class KeyBatches {
  using Keys = KeySource<kPaddedBytes>;
  using Hashes = HashSource<Hash, kPaddedBytes>;

 public:
  using Batch = KeyBatch<Keys, Hashes>;
  using Flight = InFlight<Keys, Hashes>;
  static_assert(sizeof(Flight) <= sizeof(roost_flight) && alignof(Flight) <= alignof(roost_flight));
  static_assert(std::is_trivially_copyable_v<Flight>, "callers may move a flight as bytes");

  KeyBatches(const Hash& hash, size_t key_bytes) : hash_(&hash), key_bytes_(key_bytes) {}

  [[nodiscard]] Batch batch(const roost_keys& keys) const {
    if (keys.flight != nullptr) {
      const Flight& flight = in(*keys.flight);
      return {flight.keys, flight.hashes, flight.started.data(), flight.started_count()};
    }
    return {{static_cast<const std::byte*>(keys.keys), keys.pointers, key_bytes_, keys.count},
            {hash_, keys.hashes}};
  }

  // A flight of these keys, not started yet.
  [[nodiscard]] Flight flight(const roost_keys& keys) const {
    const Batch next = batch(keys);
    Flight result;  // its hashes are written by the start
    result.keys = next.keys;
    result.hashes = next.hashes;
    return result;
  }

  static void put(const Flight& flight, roost_flight& to) { new (to.opaque) Flight(flight); }
  [[nodiscard]] static const Flight& in(const roost_flight& flight) {
    return *std::launder(reinterpret_cast<const Flight*>(flight.opaque));
  }

 private:
  const Hash* hash_;
  size_t key_bytes_;
};

}  // namespace roost::capi
