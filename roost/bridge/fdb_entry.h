// An entry of the forwarding database: a station of a VLAN, the port it is at, and its age.
//
//   key    bit 59      48 47                        0
//          +-------------+---------------------------+
//          |    VLAN     |            MAC            |
//          +-------------+---------------------------+
//
//   value  bit 15       6      5     4              0
//          +-------------+---------+-----------------+
//          |    port     | static  |       age       |
//          +-------------+---------+-----------------+
//
// The age is the number, modulo 32, of the sixteenth of the ageing time that the station was last
// seen in (ageing.h). Static entries have none.
#pragma once

#include <cstdint>
#include <cstring>

#include "roost/net/address.h"

namespace roost::bridge {

class FdbKey {
 public:
  static constexpr unsigned kSignificantBits = 60;
  static constexpr uint64_t kMacMask = (uint64_t{1} << 48) - 1;

  constexpr FdbKey() = default;
  constexpr FdbKey(uint16_t vlan, uint64_t mac_word)
      : word_(uint64_t{vlan} << kMacBits | (mac_word & kMacMask)) {}
  FdbKey(uint16_t vlan, const net::MacAddress& mac) : FdbKey(vlan, word_of(mac)) {}

  // The address at the beginning of eight bytes of a frame, its first byte lowest.
  [[nodiscard]] static uint64_t load_mac(const uint8_t* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    return word & kMacMask;
  }
  // Multicast, broadcast included.
  [[nodiscard]] static constexpr bool is_group(uint64_t mac_word) { return (mac_word & 1) != 0; }

  // The address, as load_mac() gives it.
  [[nodiscard]] constexpr uint64_t mac_word() const { return word_ & kMacMask; }

  [[nodiscard]] constexpr uint16_t vlan() const { return static_cast<uint16_t>(word_ >> kMacBits); }
  [[nodiscard]] net::MacAddress mac() const {
    net::MacAddress mac;
    std::memcpy(mac.bytes.data(), &word_, mac.bytes.size());
    return mac;
  }
  friend constexpr auto operator<=>(const FdbKey&, const FdbKey&) = default;

 private:
  static constexpr unsigned kMacBits = 48;

  static uint64_t word_of(const net::MacAddress& mac) {
    uint64_t word = 0;
    std::memcpy(&word, mac.bytes.data(), mac.bytes.size());
    return word;
  }

  uint64_t word_ = 0;
};

class FdbValue {
 public:
  static constexpr uint16_t kPortsMax = 1'023;
  static constexpr uint16_t kNoPort = kPortsMax;  // of a static entry whose frames are dropped
  static constexpr uint16_t kAgeMask = 0x1F;

  constexpr FdbValue() = default;
  // Learned at a port in a sixteenth.
  [[nodiscard]] static constexpr FdbValue learned(uint16_t port, uint32_t sixteenth) {
    return FdbValue(static_cast<uint16_t>(uint32_t{port} << kPortShift | (sixteenth & kAgeMask)));
  }
  [[nodiscard]] static constexpr FdbValue fixed(uint16_t port) {
    return FdbValue(static_cast<uint16_t>(uint32_t{port} << kPortShift | kStatic));
  }

  [[nodiscard]] constexpr uint16_t port() const {
    return static_cast<uint16_t>(word_ >> kPortShift);
  }
  [[nodiscard]] constexpr bool is_static() const { return (word_ & kStatic) != 0; }
  [[nodiscard]] constexpr uint32_t age() const { return word_ & kAgeMask; }
  friend constexpr bool operator==(const FdbValue&, const FdbValue&) = default;

 private:
  static constexpr unsigned kPortShift = 6;
  static constexpr uint16_t kStatic = 1 << 5;

  constexpr explicit FdbValue(uint16_t word) : word_(word) {}

  uint16_t word_ = 0;
};

static_assert(sizeof(FdbKey) == 8 && sizeof(FdbValue) == 2);

}  // namespace roost::bridge
