// Bytes of a test's frames, put one behind the other in network order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "roost/net/address.h"

namespace roost::lb {

using Bytes = std::vector<uint8_t>;

inline void put16(Bytes& bytes, size_t value) {
  bytes.push_back(static_cast<uint8_t>(value >> 8));
  bytes.push_back(static_cast<uint8_t>(value & 0xff));
}

inline void put32(Bytes& bytes, uint32_t value) {
  put16(bytes, value >> 16);
  put16(bytes, value & 0xffff);
}

inline void set16(Bytes& bytes, size_t at, size_t value) {
  bytes[at] = static_cast<uint8_t>(value >> 8 & 0xff);
  bytes[at + 1] = static_cast<uint8_t>(value & 0xff);
}

template <class Array>
void put(Bytes& bytes, const Array& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

inline void put_address(Bytes& bytes, const net::IpAddress& address) {
  if (address.is_ipv6()) {
    put(bytes, address.ipv6().bytes);
  } else {
    put(bytes, address.ipv4().bytes);
  }
}

}  // namespace roost::lb
