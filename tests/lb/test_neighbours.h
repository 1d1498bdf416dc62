// Neighbours of a test's balancer that speak ARP, for a configuration that names none.
#pragma once

#include <string>
#include <vector>

#include "roost/net/arp.h"
#include "roost/net/frame_header.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {

inline const net::MacAddress kClientMac = {{2, 0, 0, 0, 1, 0x10}};
inline const net::MacAddress kBackendMac = {{2, 0, 0, 0, 2, 0x11}};
inline const net::MacAddress kPort0Mac = {{2, 0, 0, 0, 0, 1}};
inline const net::MacAddress kPort1Mac = {{2, 0, 0, 0, 0, 2}};

inline net::Ipv4Address ip(const std::string& text) {
  return net::Ipv4Address::parse(text).value();
}

// Without any [[neighbour]], and with a route to one client's network.
inline std::string config_without_neighbours() {
  std::string toml = test_config();
  const size_t begin = toml.find("[[neighbour]]");
  const size_t end = toml.find("[[service]]");
  return toml.replace(begin, end - begin,
                      "[[route]]\nprefix = \"203.0.113.0/24\"\nvia = \"192.0.2.254\"\n");
}

inline std::vector<uint8_t> arp_frame(const net::ArpMessage& message, const net::MacAddress& to) {
  std::vector<uint8_t> frame(60);
  net::write_arp(
      net::write_frame_header(frame, {.macs = {.source = message.sender_mac, .destination = to},
                                      .vlan = {},
                                      .ether_type = net::ethernet::kArp}),
      message);
  return frame;
}

inline std::vector<uint8_t> is_at(const std::string& sender, const net::MacAddress& mac,
                                  const std::string& target, const net::MacAddress& to) {
  return arp_frame({false, mac, ip(sender), to, ip(target)}, to);
}

}  // namespace roost::lb
