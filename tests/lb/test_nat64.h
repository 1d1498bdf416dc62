// What the tests of IPv6 services with IPv4 backends share: the services, a client and its backend,
// and what each gets of what the other one sent, byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lb/frame_bytes.h"
#include "tests/lb/nat64_config.h"
#include "tests/lb/test_fullnat.h"

namespace roost::lb {

inline const FullnatFamily kNat64 = {
    "2001:db8:1::10",
    "2001:db8:ffff::80",
    "10.0.0.200",
    "web6",
    {{"10.0.0.11", "02:00:00:00:02:11"}, {"10.0.0.12", "02:00:00:00:02:12"}}};

inline PacketSpec client_sends_udp(const std::string& payload = "roost") {
  PacketSpec spec = udp(kNat64.client, 40'000, "2001:db8:ffff::53", 53);
  spec.payload = payload;
  return spec;
}

// A client's packet as its backend gets it, the balancer's n-th that became one of IPv4: it is
// short, so it may be cut.
inline Bytes as_ipv4_backend_gets(PacketSpec spec, const Ends& ends, uint16_t n) {
  spec.source_mac = "02:00:00:00:00:02";
  spec.destination_mac = kNat64.backend_macs.at(ends.destination);
  spec.source = ends.source;
  spec.source_port = ends.source_port;
  spec.destination = ends.destination;
  spec.destination_port = ends.destination_port;
  spec.may_be_cut = true;
  --spec.ttl;
  Bytes frame = make_frame(spec);
  set16(frame, 18, n);
  fix_ipv4_checksum(frame);
  return frame;
}

// A backend's packet as the client of this service gets it.
inline Bytes as_ipv6_client_gets(PacketSpec spec, const PacketSpec& asked) {
  spec.source_mac = "02:00:00:00:00:01";
  spec.destination_mac = "02:00:00:00:01:10";
  spec.source = asked.destination;
  spec.source_port = asked.destination_port;
  spec.destination = asked.source;
  spec.destination_port = asked.source_port;
  spec.has_udp_checksum = true;
  --spec.ttl;
  return make_frame(spec);
}

// What a backend says to a client whose packet came as `ends`.
inline PacketSpec ipv4_answer(const Ends& ends, const PacketSpec& asked,
                              const std::string& payload) {
  PacketSpec spec = answer_to(kNat64, ends, net::tcp::kAck);
  spec.protocol = asked.protocol;
  spec.payload = payload;
  return spec;
}

inline std::vector<std::string> no_faults() { return {}; }

}  // namespace roost::lb
