// Numbers of any width in bytes, one behind the other, least significant bit first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace roost::compact {

// Writes only the bytes that the number has a part in.
inline void store_bits(std::byte* bytes, size_t first_bit, unsigned bits, uint64_t number) {
  for (unsigned done = 0; done < bits;) {
    const size_t at = (first_bit + done) / 8;
    const auto shift = static_cast<unsigned>((first_bit + done) % 8);
    const unsigned taken = std::min(bits - done, 8 - shift);
    const auto mask = static_cast<uint8_t>(((1U << taken) - 1) << shift);
    const auto part = static_cast<uint8_t>((number >> done) << shift);
    const auto before = static_cast<uint8_t>(bytes[at]);
    bytes[at] = static_cast<std::byte>((before & ~mask) | (part & mask));
    done += taken;
  }
}

}  // namespace roost::compact
