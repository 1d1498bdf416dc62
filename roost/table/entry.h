// The shape of an entry: how many of its bytes are key and value.
//
//   | padded key | value | padding to 8 bytes |
//
// A padded key has zeroes behind it up to the next of six sizes. A table is compiled once a padded
// size, because the batch loop compares whole keys in registers.
// The value's size may be known to the compiler (FixedEntry: tables of a C++ type) or only to the
// configuration (SizedEntry: one compiled table a padded size serves every value size, by stride).
#pragma once

#include <cstddef>
#include <type_traits>

#include "roost/isa/kernel.h"

namespace roost {

inline constexpr size_t kKeyBytesMax = 64;
inline constexpr size_t kValueBytesMax = 256;

// Bytes of the padded key of a key of `key_bytes` bytes, 1 to 64. Example: 13 is padded to 16.
[[nodiscard]] constexpr size_t padded_key_bytes(size_t key_bytes) {
  for (const size_t bytes : kPaddedKeyBytes) {
    if (key_bytes <= bytes) return bytes;
  }
  return 0;
}

// How many of a key type's bytes tell keys apart: all of them, or `Key::kSignificantBytes` where
// there is such a number. The bytes behind those must then be zero in every key.
template <class Key>
[[nodiscard]] constexpr size_t significant_bytes() {
  if constexpr (requires { Key::kSignificantBytes; }) {
    static_assert(padded_key_bytes(Key::kSignificantBytes) == padded_key_bytes(sizeof(Key)),
                  "zeroes that make a longer padded key would be stored for nothing");
    return Key::kSignificantBytes;
  } else {
    return sizeof(Key);
  }
}

// How many of a key's lowest bits may be set, the key read as a number, lowest byte first: all of
// them, or `Key::kSignificantBits`. A packed table takes no key with others, and finds none.
template <class Key>
[[nodiscard]] constexpr unsigned significant_bits() {
  if constexpr (requires { Key::kSignificantBits; }) {
    static_assert(Key::kSignificantBits <= 8 * sizeof(Key));
    return Key::kSignificantBits;
  } else {
    return 8 * sizeof(Key);
  }
}

// What key and value types of a table must be.
template <class Key, class Value>
struct EntryTypes {
  static constexpr bool kIsSet = std::is_empty_v<Value>;
  static constexpr size_t kKeyBytes = padded_key_bytes(sizeof(Key));
  static constexpr size_t kValueBytes = kIsSet ? 0 : sizeof(Value);

  static_assert(sizeof(Key) <= kKeyBytesMax, "a key has at most 64 bytes");
  static_assert(std::has_unique_object_representations_v<Key>,
                "a key's padding bytes would be compared");
  static_assert(kValueBytes <= kValueBytesMax,
                "a value has at most 256 bytes; keep larger state elsewhere, see lookup_records()");
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>,
                "entries are moved as bytes");
  static_assert(alignof(Key) <= 8 && alignof(Value) <= 8, "entries are aligned to 8 bytes");
};

// Whether an entry of that size, at any multiple of it, may lie in more cache lines than the one
// that it starts in.
[[nodiscard]] constexpr bool may_straddle(size_t entry_bytes) { return 64 % entry_bytes != 0; }

template <size_t kKeySize, size_t kValueSize>
class FixedEntry {
  static_assert(padded_key_bytes(kKeySize) == kKeySize && kValueSize <= kValueBytesMax);

 public:
  static constexpr size_t kKeyBytes = kKeySize;
  static constexpr size_t kBytesMax = (kKeySize + kValueSize + 7) / 8 * 8;
  [[nodiscard]] static constexpr size_t value_bytes() { return kValueSize; }
  [[nodiscard]] static constexpr size_t bytes() { return kBytesMax; }
  [[nodiscard]] static constexpr bool straddles() { return may_straddle(bytes()); }
};

template <size_t kKeySize>
class SizedEntry {
  static_assert(padded_key_bytes(kKeySize) == kKeySize);

 public:
  static constexpr size_t kKeyBytes = kKeySize;
  static constexpr size_t kBytesMax = kKeySize + kValueBytesMax;

  // `value_bytes` is at most kValueBytesMax.
  constexpr explicit SizedEntry(size_t value_bytes)
      : value_bytes_(value_bytes),
        bytes_((kKeySize + value_bytes + 7) / 8 * 8),
        straddles_(may_straddle(bytes_)) {}

  [[nodiscard]] constexpr size_t value_bytes() const { return value_bytes_; }
  [[nodiscard]] constexpr size_t bytes() const { return bytes_; }
  [[nodiscard]] constexpr bool straddles() const { return straddles_; }

 private:
  size_t value_bytes_;
  size_t bytes_;
  bool straddles_;
};

}  // namespace roost
