// CRC32C (Castagnoli) of 64-bit words: by instruction where the build targets it, by table
// everywhere.
#pragma once

#include <array>
#include <cstdint>

#if defined(__SSE4_2__)
#include <immintrin.h>
#endif

namespace roost {

namespace detail {

// Entry b is the CRC of the byte b; reflected polynomial 0x82F63B78.
constexpr std::array<uint32_t, 256> crc32c_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    table[byte] = crc;
  }
  return table;
}

inline constexpr std::array<uint32_t, 256> kCrc32cTable = crc32c_table();

}  // namespace detail

// Of a byte more: a table step.
[[nodiscard]] constexpr uint32_t crc32c_byte(uint32_t crc, uint8_t byte) {
  return (crc >> 8) ^ detail::kCrc32cTable[(crc ^ byte) & 0xFF];
}

// The definition: eight table steps.
[[nodiscard]] constexpr uint32_t crc32c_scalar(uint32_t crc, uint64_t word) {
  for (int byte = 0; byte < 8; ++byte) {
    crc = crc32c_byte(crc, static_cast<uint8_t>(word));
    word >>= 8;
  }
  return crc;
}

// The same, by the processor's instruction where the whole build may use it. No initial or final
// inversion.
[[nodiscard]] inline uint32_t crc32c(uint32_t crc, uint64_t word) {
#if defined(__SSE4_2__)
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
#else
  return crc32c_scalar(crc, word);
#endif
}

}  // namespace roost
