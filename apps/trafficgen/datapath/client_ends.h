// The clients' addresses and ports: a connection's number is its end, for ever.
//
// Numbers that follow each other are far apart, in address and port, so that tables see no order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "roost/net/address.h"
#include "roost/net/byte_order.h"
#include "roost/net/flow_key.h"
#include "roost/traffic/draw.h"

namespace roost::trafficgen {

template <class AddressType>
class ClientEnds {
 public:
  using Address = AddressType;

  static constexpr unsigned kPortBits = 15;
  static constexpr uint16_t kPortMin = 1'024;  // ports of clients: 1,024 to 33,791

  // The prefix is of this family.
  explicit ClientEnds(const net::IpPrefix& prefix)
      : prefix_(prefix.address.to<Address>()),
        number_bits_(std::min<unsigned>(
            32,
            static_cast<unsigned>(prefix.address.bit_count() - prefix.prefix_bits) + kPortBits)) {
    for (size_t i = 0; i < prefix_.bytes.size(); ++i) {
      const int host_bits = std::clamp(static_cast<int>(8 * (i + 1)) - prefix.prefix_bits, 0, 8);
      prefix_.bytes[i] &= static_cast<uint8_t>(0xff << host_bits);
    }
  }

  // Different for different numbers below 2^number_bits().
  [[nodiscard]] net::Endpoint<Address> of(uint32_t number) const {
    const uint32_t mixed = permuted(number);
    net::Endpoint<Address> end{prefix_,
                               static_cast<uint16_t>(kPortMin + (mixed & ((1U << kPortBits) - 1)))};
    uint8_t* last = end.address.bytes.data() + end.address.bytes.size() - 4;
    net::store_be32(last, net::load_be32(last) | (mixed >> kPortBits));
    return end;
  }
  [[nodiscard]] unsigned number_bits() const { return number_bits_; }

 private:
  // Each step can be undone, so no two numbers become the same.
  [[nodiscard]] uint32_t permuted(uint32_t number) const {
    const uint32_t mask = number_bits_ == 32 ? UINT32_MAX : (1U << number_bits_) - 1;
    uint32_t word = (number * 0x9E3779B1U) & mask;
    word ^= word >> (number_bits_ / 2);
    word = (word * 0x85EBCA6BU) & mask;
    word ^= word >> (number_bits_ / 2 + 1);
    return (word * 0xC2B2AE35U) & mask;
  }

  Address prefix_;  // its host bits are zero
  unsigned number_bits_;
};

}  // namespace roost::trafficgen
