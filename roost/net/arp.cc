#include "roost/net/arp.h"

#include <algorithm>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"

namespace roost::net {

std::optional<ArpMessage> parse_arp(std::span<const uint8_t> bytes) {
  if (bytes.size() < kArpBytes) return {};
  const uint8_t* at = bytes.data();
  const uint16_t operation = load_be16(at + arp::kOperation);
  if (load_be16(at + arp::kHardwareType) != arp::kEthernet ||
      load_be16(at + arp::kProtocolType) != ethernet::kIpv4 ||
      at[arp::kHardwareBytes] != sizeof(MacAddress) ||
      at[arp::kProtocolBytes] != sizeof(Ipv4Address) ||
      (operation != arp::kRequest && operation != arp::kReply)) {
    return {};
  }
  ArpMessage message{.is_request = operation == arp::kRequest};
  std::memcpy(&message.sender_mac, at + arp::kSenderMac, sizeof message.sender_mac);
  std::memcpy(&message.sender, at + arp::kSender, sizeof message.sender);
  std::memcpy(&message.target_mac, at + arp::kTargetMac, sizeof message.target_mac);
  std::memcpy(&message.target, at + arp::kTarget, sizeof message.target);
  if (!message.sender_mac.is_station()) return {};
  return message;
}

void write_arp(std::span<uint8_t> to, const ArpMessage& message) {
  ROOST_ASSERT(to.size() >= kArpBytes);
  uint8_t* at = to.data();
  store_be16(at + arp::kHardwareType, arp::kEthernet);
  store_be16(at + arp::kProtocolType, ethernet::kIpv4);
  at[arp::kHardwareBytes] = sizeof(MacAddress);
  at[arp::kProtocolBytes] = sizeof(Ipv4Address);
  store_be16(at + arp::kOperation, message.is_request ? arp::kRequest : arp::kReply);
  std::memcpy(at + arp::kSenderMac, &message.sender_mac, sizeof message.sender_mac);
  std::memcpy(at + arp::kSender, &message.sender, sizeof message.sender);
  std::memcpy(at + arp::kTargetMac, &message.target_mac, sizeof message.target_mac);
  std::memcpy(at + arp::kTarget, &message.target, sizeof message.target);
}

}  // namespace roost::net
