// What a fuzz target reads its choices from.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roost {

// Bytes in order; zeroes behind the last.
struct ByteSource {
  const uint8_t* data;
  size_t size;

  // The next `count` of them, the first one the most significant.
  uint64_t next(size_t count) {
    uint64_t number = 0;
    for (; count > 0; --count) {
      number = number << 8 | (size > 0 ? *data : 0);
      if (size > 0) {
        ++data;
        --size;
      }
    }
    return number;
  }
};

}  // namespace roost
