// Keys and values of any size, each made from a number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace roost {

// The number stands in a key's last bytes, so that comparing less than the whole key shows; the
// bytes before are the same in all keys.
inline void write_numbered_key(uint64_t number, std::span<std::byte> key) {
  std::ranges::fill(key, std::byte{0xA5});
  for (size_t i = 0; i < std::min<size_t>(key.size(), 8); ++i)
    key[key.size() - 1 - i] = static_cast<std::byte>(number >> (8 * i));
}

// All of the number stands in each eight bytes of a value, each time a little changed.
inline void write_numbered_value(uint64_t number, std::span<std::byte> value) {
  for (size_t i = 0; i < value.size(); ++i)
    value[i] = static_cast<std::byte>((number >> (8 * (i % 8))) + i / 8);
}

}  // namespace roost
