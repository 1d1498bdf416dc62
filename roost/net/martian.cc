// The ranges of has_martian_address, on the first bytes of an address.
#include "roost/net/martian.h"

#include <algorithm>

namespace roost::net {
namespace {

bool is_martian(const Ipv4Address& address) {
  const uint8_t first = address.bytes[0];
  return first == 0 || first == 127 || (first == 169 && address.bytes[1] == 254) || first >= 224;
}

bool is_martian(const Ipv6Address& address) {
  const auto& bytes = address.bytes;
  if (bytes[0] == 0xff) return true;
  if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) return true;
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  if (!std::all_of(bytes.begin(), bytes.begin() + 10, is_zero)) return false;
  const bool is_ipv4_mapped = bytes[10] == 0xff && bytes[11] == 0xff;
  const bool is_unspecified_or_loopback =
      std::all_of(bytes.begin() + 10, bytes.begin() + 15, is_zero) && bytes[15] <= 1;
  return is_ipv4_mapped || is_unspecified_or_loopback;
}

template <class Key>
bool has_martian(const Key& key) {
  return is_martian(key.source) || is_martian(key.destination) || key.source == key.destination;
}

}  // namespace

bool has_martian_address(const FlowKey4& key) { return has_martian(key); }
bool has_martian_address(const FlowKey6& key) { return has_martian(key); }

}  // namespace roost::net
