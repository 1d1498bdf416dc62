// Big-endian loads and stores at any address. Shifts of single bytes: no alignment and no aliasing
// to get wrong, and compilers turn each into one load (or store) and one byte swap.
#pragma once

#include <cstdint>

namespace roost::net {

[[nodiscard]] constexpr uint16_t load_be16(const uint8_t* at) {
  return static_cast<uint16_t>((uint32_t{at[0]} << 8) | at[1]);
}

[[nodiscard]] constexpr uint32_t load_be32(const uint8_t* at) {
  return (uint32_t{at[0]} << 24) | (uint32_t{at[1]} << 16) | (uint32_t{at[2]} << 8) | at[3];
}

constexpr void store_be16(uint8_t* at, uint16_t value) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value & 0xff);
}

constexpr void store_be32(uint8_t* at, uint32_t value) {
  store_be16(at, static_cast<uint16_t>(value >> 16));
  store_be16(at + 2, static_cast<uint16_t>(value & 0xffff));
}

}  // namespace roost::net
