// ICMP errors for the load balancer's tests, made field by field with checksums from scratch, as
// test_packet.h makes packets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/lb/test_packet.h"

namespace roost::lb {

struct IcmpSpec {
  std::string source_mac = "02:00:00:00:01:10";
  std::string destination_mac = "02:00:00:00:00:01";
  std::string source = "192.0.2.11";
  std::string destination = "198.51.100.80";
  uint8_t type = 3;
  uint8_t code = 1;
  uint32_t rest = 0;  // the four bytes behind the checksum
  uint8_t ttl = 64;
  uint8_t type_of_service = 0;
  bool may_be_cut = true;
};

// An error about the IP packet of an untagged frame, of which it embeds the first bytes.
[[nodiscard]] std::vector<uint8_t> make_icmp_error(const IcmpSpec& spec,
                                                   std::span<const uint8_t> about,
                                                   size_t embedded_bytes);

}  // namespace roost::lb
