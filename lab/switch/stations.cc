#include "lab/switch/stations.h"

#include <algorithm>

#include "roost/net/byte_order.h"
#include "roost/net/headers.h"

namespace roost::lab {

namespace {

// One station's, and locally administered, by the two lowest bits of its first byte.
constexpr uint64_t kStationBits = 0b10;
constexpr uint16_t kEtherType = 0x88B5;  // for experiments (IEEE 802)

void put_mac(const bridge::FdbKey& key, size_t at, StationFrame& frame) {
  const net::MacAddress mac = key.mac();
  std::ranges::copy(mac.bytes, frame.begin() + static_cast<std::ptrdiff_t>(at));
}

// A permutation of the numbers below kStationsMax: each step can be undone.
uint64_t permuted(uint64_t station) {
  constexpr uint64_t kMask = kStationsMax - 1;
  uint64_t word = station & kMask;
  word = word * 0x476D1CE4E5B9U & kMask;
  word ^= word >> 23;
  word = word * 0x49BB133111EBU & kMask;
  return word ^ word >> 24;
}

}  // namespace

bridge::FdbKey key_of_station(uint64_t station) {
  return {kStationVlan, permuted(station) << 2 | kStationBits};
}

StationFrame frame_between(uint64_t source, uint64_t destination) {
  StationFrame frame{};
  put_mac(key_of_station(destination), net::ethernet::kDestination, frame);
  put_mac(key_of_station(source), net::ethernet::kSource, frame);
  net::store_be16(&frame[net::ethernet::kAddressesBytes], kEtherType);
  return frame;
}

}  // namespace roost::lab
