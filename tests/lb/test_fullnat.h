// What the tests of `fullnat` share: the web services in that mode, and the ends of packets.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "tests/lb/test_balancer.h"

namespace roost::lb {

struct FullnatFamily {
  std::string client, virtual_address, local, service;
  std::map<std::string, std::string> backend_macs;  // by address
};
inline const FullnatFamily kFullnat4 = {"192.0.2.10",
                                        "198.51.100.80",
                                        "10.0.0.100",
                                        "web",
                                        {{"10.0.0.11", "02:00:00:00:02:11"},
                                         {"10.0.0.12", "02:00:00:00:02:12"},
                                         {"10.0.0.13", "02:00:00:00:02:13"}}};
inline const FullnatFamily kFullnat6 = {
    "2001:db8:1::10",
    "2001:db8:ffff::80",
    "2001:db8:2::100",
    "web6",
    {{"2001:db8:2::11", "02:00:00:00:02:11"}, {"2001:db8:2::12", "02:00:00:00:02:12"}}};

// The web services with these local addresses; `ports`: "[first, last]".
inline std::string fullnat_config(const std::string& addresses, const std::string& ports) {
  std::string toml = test_config();
  for (const std::string name : {"web", "web6"}) {
    const std::string line = "name = \"" + name + "\"\n";
    toml.replace(toml.find(line), line.size(), line + "mode = \"fullnat\"\n");
  }
  return toml + "[fullnat]\naddresses = [" + addresses + "]\nports = " + ports + "\n";
}
inline std::string fullnat_config() {
  return fullnat_config("\"10.0.0.100\", \"2001:db8:2::100\"", "[1024, 65535]");
}

inline PacketSpec from_client(const FullnatFamily& f, uint16_t port,
                              uint8_t flags = net::tcp::kSyn) {
  return {.source = f.client,
          .destination = f.virtual_address,
          .source_port = port,
          .tcp_flags = flags};
}

inline Ends ends_of(const Fate& fate) {
  EXPECT_EQ(fate.cause, std::nullopt);
  return read_ends(fate.frame);
}

inline PacketSpec answer_to(const FullnatFamily& f, const Ends& asked, uint8_t flags) {
  return {.source_mac = f.backend_macs.at(asked.destination),
          .destination_mac = "02:00:00:00:00:02",
          .source = asked.destination,
          .destination = asked.source,
          .source_port = asked.destination_port,
          .destination_port = asked.source_port,
          .tcp_flags = flags};
}

// A whole handshake; what its backend sees, or nothing when it was refused because no local
// port was free.
inline std::optional<Ends> assure(TestBalancer& balancer, const FullnatFamily& f, uint16_t port) {
  const Fate fate = balancer.send_from_client(from_client(f, port));
  EXPECT_EQ(fate.cause.value_or(DropCause::kNoLocalPort), DropCause::kNoLocalPort);
  if (fate.cause) return {};
  Ends ends = ends_of(fate);
  const PacketSpec answer = answer_to(f, ends, net::tcp::kSyn | net::tcp::kAck);
  EXPECT_EQ(balancer.send_from_backend(answer).cause, std::nullopt);
  EXPECT_EQ(ends_of(balancer.send_from_client(from_client(f, port, net::tcp::kAck))), ends);
  return ends;
}

// The client's connection ends at once.
inline void end_connection(TestBalancer& balancer, const FullnatFamily& f, uint16_t port) {
  const net::IpAddress client = net::IpAddress::parse(f.client).value();
  const net::IpAddress service = net::IpAddress::parse(f.virtual_address).value();
  const auto end = [](auto& connections, const auto& key) {
    connections.end(key, *connections.find(key).connection);
  };
  State& state = balancer.state();
  if (client.is_ipv6()) {
    end(state.ipv6().connections(),
        net::FlowKey6{client.ipv6(), service.ipv6(), port, 80, net::IpProtocol::kTcp, {}});
  } else {
    end(state.ipv4().connections(),
        net::FlowKey4{client.ipv4(), service.ipv4(), port, 80, net::IpProtocol::kTcp, {}});
  }
}

}  // namespace roost::lb
