// Packets for the load balancer's tests, made from a description field by field, with checksums
// computed from scratch. What the balancer sends is compared with a frame made from the description
// of what it should have sent: no code of roost/net is involved.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "roost/net/address.h"
#include "roost/net/headers.h"

namespace roost::lb {

struct PacketSpec {
  std::string source_mac = "02:00:00:00:01:10";
  std::string destination_mac = "02:00:00:00:00:01";
  std::vector<uint16_t> vlan{};
  std::string source = "192.0.2.10";
  std::string destination = "198.51.100.80";
  uint16_t source_port = 40'000;
  uint16_t destination_port = 80;
  net::IpProtocol protocol = net::IpProtocol::kTcp;
  uint8_t tcp_flags = net::tcp::kSyn;
  // The streams of both directions stand at the same place, unless a test says otherwise.
  uint32_t sequence = 0x01020304;
  uint32_t acknowledgement = 0x01020304;
  uint8_t ttl = 64;
  std::string payload = "roost";
  bool has_udp_checksum = true;
  bool may_be_cut = false;  // IPv4 without "don't fragment"
};

// A datagram from here to there.
[[nodiscard]] PacketSpec udp(const std::string& source, uint16_t source_port,
                             const std::string& destination, uint16_t destination_port);

// A client's query to the service for DNS.
[[nodiscard]] PacketSpec dns_query(uint16_t source_port = 40'000);

// RFC 1071, literally.
[[nodiscard]] uint16_t checksum_from_scratch(std::span<const uint8_t> bytes);

// Makes the checksum of the IPv4 header anew, in a frame without VLAN tags; what
// its length says beyond the frame does not count.
void fix_ipv4_checksum(std::vector<uint8_t>& frame);

[[nodiscard]] std::vector<uint8_t> make_frame(const PacketSpec& spec);

}  // namespace roost::lb
